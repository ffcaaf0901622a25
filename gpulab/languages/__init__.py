"""Languages of kernels: one file for each in this folder, which is all that knows of it (docs/add-a-language.md).

`members` lists them, `find` and `of_file` choose one by name or by a file's suffix, `compile` is source and options in,
code object out. language.py is the port.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from gpulab.errors import GpulabError

if TYPE_CHECKING:
    from gpulab.languages.language import Answers, Language
    from gpulab.toolchain.code_object import CodeObject

_PORT = "language"


@cache
def members() -> Mapping[str, Language]:
    """All languages by name: what the modules in this folder call LANGUAGE."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != _PORT)
    found = [import_module(f"{__name__}.{name}").LANGUAGE for name in names]
    return {language.name: language for language in found}


def find(name: str) -> Language:
    """The language of this name.

    Raises:
        GpulabError: there is none; the message lists those there are.
    """
    found = members().get(name) if isinstance(name, str) else None
    if found is None:
        listed = ", ".join(f'"{one.name}" ({one.title})' for one in members().values())
        raise GpulabError(f"there is no language {name!r} here.", hint=f"language= takes {listed}.")
    return found


def answers(name: str) -> Answers:
    """The language of this name, in which answers to exercises can be written.

    Raises:
        GpulabError: there is none, or no exercise is answered in it.
    """
    from gpulab.languages.language import Answers

    found = find(name)
    if not isinstance(found, Answers):
        raise GpulabError(
            f"no exercise is answered in {found.title}.", why="gpulab.languages.language.Answers says how."
        )
    return found


def of_file(name: str) -> Language | None:
    """The language of a file by its suffix; None if no language has it."""
    return next((one for one in members().values() if name.lower().endswith(one.suffixes)), None)


def cell_name(language: Language) -> str:
    """What messages call a text that has no name of its own: "cell.hip"."""
    return f"cell{language.suffixes[0]}" if language.suffixes else "cell"


def compile(
    source: str,
    language: str = "hip",
    *,
    arch: str,
    options: Sequence[str] = (),
    name: str | None = None,
    first_line: int = 1,
    headers: Mapping[str, str] | None = None,
    name_expressions: Sequence[str] = (),
) -> CodeObject:
    """Compile a source; see `gpulab.compile`.

    Raises:
        GpulabError: there is no such language, or an argument is not accepted.
        CompileError: the source is refused.
    """
    from gpulab.toolchain.request import request

    chosen = find(language)
    return chosen.compile(
        request(
            source, arch=arch, language=language, options=options, name=name or cell_name(chosen),
            first_line=first_line, headers=headers, name_expressions=name_expressions,
        )
    )  # fmt: skip
