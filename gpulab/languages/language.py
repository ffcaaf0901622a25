"""The port of languages: `Language`, which each is, and `Translates`, for those that are shown as HIP C++ first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from gpulab.porting import Translation
    from gpulab.records import Guarantees
    from gpulab.toolchain.code_object import CodeObject
    from gpulab.toolchain.request import Request


@runtime_checkable
class Language(Protocol):
    """A language of kernels: source and options in, a code object out.

    `name` is what ``gpulab.compile(source, language=...)`` takes; `title` stands in messages. `suffixes` are those of
    its files, with the dot and in lower case; the first one names a cell's text in messages ("cell.hip"). `magic` is
    its cell magic without the percent signs, "" for none. `whole_programs`: files of it can be programs with host
    code, which ``gpulab hipcc`` builds. `guarantees` is what it promises of each code object.
    """

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    @property
    def magic(self) -> str: ...

    @property
    def whole_programs(self) -> bool: ...

    @property
    def guarantees(self) -> Guarantees: ...

    def compile(self, request: Request) -> CodeObject:
        """The code object of a source. Its guarantees are the language's.

        Raises:
            CompileError: the source is refused; the message shows the source's own lines.
        """
        ...


@runtime_checkable
class Translates(Language, Protocol):
    """A language whose cells show what they become in HIP C++ before they are compiled, and whose programs run so."""

    def translate(self, source: str, name: str, first_line: int, launches: Literal["cuda", "hip"]) -> Translation:
        """The whole text in HIP C++, with what changed and what needs a person."""
        ...
