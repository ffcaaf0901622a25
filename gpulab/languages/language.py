"""The port of languages: `Language`, which each is; `Translates`, for those that are shown as HIP C++ first; and
`Answers`, for those that answers to exercises are written in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

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


@runtime_checkable
class Answers(Language, Protocol):
    """A language that answers to exercises are written in: what a check has to know of its texts.

    `heading` is how a kernel begins, with the words {kernel} and {parameters} in it; `stub` stands in a released
    exercise where the answer is to be written, and must compile. `needs` has what `compile` starts beside gpulab's
    compiler ("run"), and what that reads ("read"): a process that is to compile must be allowed to.
    """

    @property
    def heading(self) -> str: ...

    @property
    def stub(self) -> str: ...

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]: ...

    def code_only(self, source: str) -> str:
        """The source with each comment replaced by a space and each text by an empty one."""
        ...

    def defines(self, source: str, kernel: str) -> bool:
        """Does the source define a kernel of this name? `kernel` is a regular expression."""
        ...

    def text_of(self, answer: object) -> str:
        """The text that an object of the language's own was made of: "" for other objects."""
        ...
