"""What is to be compiled, checked: `Request`, which `request` makes of a caller's arguments.

A language gets one and gives a code object. A language that writes another's text, line for line, passes on what
`Request.translated` gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpulab.errors import CompileError, GpulabError
from gpulab.toolchain import compiler, sources
from gpulab.toolchain import options as option_check

_MOST_SOURCE = 16 << 20


@dataclass(frozen=True, slots=True)
class Request:
    """A source and how to compile it.

    `source` is what the compiler reads; `original` the learner's own text if `source` was translated from it, line for
    line. `name` and `first_line` are what messages and line information call it. `expressions` are C++ expressions
    whose symbols are wanted, `headers` texts by the name in an #include.
    """

    source: str
    arch: str
    language: str
    options: option_check.Accepted
    name: str
    first_line: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)
    expressions: tuple[str, ...] = ()
    limits: compiler.Limits = field(default_factory=compiler.Limits)
    use_cache: bool = True
    original: str = ""

    def translated(self, text: str) -> Request:
        """The same request for the text that the source was translated to. Its lines have the source's numbers."""
        return replace(self, source=text, original=self.original or self.source)

    def key(self) -> str:
        """All that a result depends on, for cache keys."""
        return json.dumps(
            [self.arch, self.language, self.source, self.options.compiler, self.name, self.first_line,
             sorted(self.headers.items()), self.expressions, self.original],
        )  # fmt: skip


def request(
    source: str,
    *,
    arch: str,
    language: str,
    name: str,
    options: Sequence[str] = (),
    first_line: int = 1,
    headers: Mapping[str, str] | None = None,
    name_expressions: Sequence[str] = (),
    limits: compiler.Limits | None = None,
    use_cache: bool = True,
) -> Request:
    """Check what is to be compiled.

    Args:
        source: the text.
        arch: for example "gfx942"; `--offload-arch=` among the options overrules it.
        language: the name of the source's language.
        name: what messages and line information call the source.
        options: compiler options; see `options.check` for which are accepted. Default is -O3.
        first_line: the number of the source's first line in messages and line information.
        headers: texts that the source may include, by the name in its #include.
        name_expressions: C++ expressions such as "saxpy<float>" or "&table" whose symbols are wanted; kernels
            that they name are instantiated.
        limits: what each compiler process may use; default 60 s.
        use_cache: look for the result in the cache on disk, and keep it there.

    Raises:
        CompileError: the text is too long or no text.
        GpulabError: an option, the architecture or an argument is not accepted.
    """
    if not isinstance(source, str):
        raise GpulabError(
            f"the source to compile is a {type(source).__name__}, not a text.",
            why="compile takes the text of a program.",
            hint="for a file: gpulab.compile(pathlib.Path('kernel.hip').read_text()).",
        )
    if len(source) > _MOST_SOURCE or "\0" in source:
        what = "holds a null character" if "\0" in source else f"is {len(source):,} characters long"
        raise CompileError(f"the source {what}.", why=f"a source is text of at most {_MOST_SOURCE:,} characters.")
    accepted = option_check.check(options)
    headers = dict(headers or {})
    for header in headers:
        _check_header_name(header)
    source = sources.normal(source)
    seen = sources.shown(source)
    return Request(
        source=source,
        arch=option_check.check_arch(accepted.arch or arch),
        language=language,
        options=accepted,
        name=_display_name(name),
        first_line=first_line,
        headers=headers,
        expressions=tuple(_check_expression(expression) for expression in name_expressions),
        limits=limits or compiler.Limits(),
        use_cache=use_cache,
        original="" if seen == source else seen,
    )


def bare(expression: str) -> str:
    """ "saxpy<float>" of "&saxpy<float>" or "(saxpy<float>)"."""
    text = expression.strip()
    while text.startswith("&") or (text.startswith("(") and text.endswith(")")):
        text = (text[1:] if text.startswith("&") else text[1:-1]).strip()
    return text


def _display_name(name: str) -> str:
    """The source's name as it can stand in messages and in line information."""
    shown = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", "?", str(name)).strip()
    shown = shown.encode("utf-8", "replace").decode("utf-8")
    # "-" is Clang's name for the text that it reads before the learner's first line.
    return "cell.hip" if shown in ("", "-") else shown[:200]


def _check_header_name(name: str) -> None:
    parts = re.split(r"[/\\]", name)
    if not name or name.startswith("/") or ".." in parts or re.search(r"[\x00-\x1f:\\\"]", name) or len(name) > 200:
        raise GpulabError(
            f"{name!r} is not accepted as the name of a header.",
            why="headers live in a folder of their own; names are like tools.h or lib/tools.h.",
        )


def _check_expression(expression: str) -> str:
    text = str(expression).strip()
    if not bare(text) or re.search(r"[\n\r;{}#\\\"'\x00]", bare(text)):
        raise GpulabError(
            f"{expression!r} is not accepted as a name expression.",
            why='it names one kernel or variable, like "saxpy<float>" or "&table".',
        )
    return text
