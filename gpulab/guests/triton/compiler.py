"""Triton asks each backend for a compiler, too. This one compiles for no target: Triton's own for AMD GPUs does."""

from __future__ import annotations

from typing import Any

from triton.backends import compiler


class NoCompiler(compiler.BaseBackend):
    """A compiler that supports nothing."""

    @staticmethod
    def supports_target(target: Any) -> bool:
        return False

    def _none(self, *_: Any) -> Any:
        raise AssertionError("Triton asked a backend that supports no target")

    hash = parse_options = add_stages = load_dialects = get_module_map = _none
