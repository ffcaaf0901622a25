"""CUDA C++ to HIP C++: `hipify` replaces names, headers and, if asked, launches, and says what needs a person.

It goes by tokens: names within comments and strings, members of objects (``x.cudaMalloc``) and names in namespaces of
the program's own stay. Every change keeps the number of lines before it, but for one added #include.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from gpulab.errors import GpulabError
from gpulab.porting import names
from gpulab.porting.structure import KEYWORDS, NONE, CppSource
from gpulab.porting.tokens import BLANK, HEADER, NAME, scan, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpulab.porting.findings import Note

Launches = Literal["cuda", "hip"]

# Calls one of whose arguments (counted from 0) is a variable of the device, which HIP wants in HIP_SYMBOL().
SYMBOLS = {
    "cudaMemcpyToSymbol": 0, "cudaMemcpyToSymbolAsync": 0, "cudaMemcpyFromSymbol": 1, "cudaMemcpyFromSymbolAsync": 1,
    "cudaGetSymbolAddress": 1, "cudaGetSymbolSize": 1, "cudaGraphAddMemcpyNodeToSymbol": 4,
    "cudaGraphAddMemcpyNodeFromSymbol": 5, "cudaGraphMemcpyNodeSetParamsToSymbol": 1,
    "cudaGraphMemcpyNodeSetParamsFromSymbol": 2, "cudaGraphExecMemcpyNodeSetParamsToSymbol": 2,
    "cudaGraphExecMemcpyNodeSetParamsFromSymbol": 3,
}  # fmt: skip
# Calls one of whose arguments is a kernel: CUDA has templates that take it as it is, HIP's functions a const void*.
KERNELS = {
    "cudaFuncSetCacheConfig": 0, "cudaFuncGetAttributes": 1, "cudaFuncSetAttribute": 0, "cudaFuncSetSharedMemConfig": 0,
    "cudaLaunchKernel": 0, "cudaLaunchCooperativeKernel": 0,
}  # fmt: skip
# Calls one of whose arguments says where a pointer goes: CUDA has templates for pointers to anything, HIP a void**.
POINTERS = {"cudaHostGetDevicePointer": 0}
_WRAPPED = (
    (SYMBOLS, "HIP_SYMBOL("), (KERNELS, "reinterpret_cast<const void*>("), (POINTERS, "reinterpret_cast<void**>("),
)  # fmt: skip
_LEFT_OUT = ("CUDART_CB", "CUDA_CB")
_STATEMENTS = ("return", "else", "do")  # words that a kernel's name can follow
_RUNTIME, _RUNTIME_API = "hip/hip_runtime.h", "hip/hip_runtime_api.h"
_CUDA_WORDS = words(
    "__global__ __device__ __constant__ __shared__ __launch_bounds__ threadIdx blockIdx blockDim gridDim <<<"
)


@dataclass(frozen=True, slots=True)
class Change:
    """One replacement: where (line and column counted from 1), what it was, what it is now, and what kind of name."""

    line: int
    column: int
    cuda: str
    hip: str
    kind: str
    api: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters `start` to `end` of the CUDA text become `text`; inserted text has start == end."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Translation:
    """What `hipify` made of a program.

    Attributes:
        text: the HIP program.
        changes: every name, header and launch that was replaced, in order.
        notes: what could not be ported or will not do the same, in order, each with its place and advice.
        source: the CUDA program.
        name: what the report calls it.
    """

    text: str
    changes: tuple[Change, ...]
    notes: tuple[Note, ...]
    source: str = field(repr=False)
    name: str = "<source>"
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    first_line: int = 1

    def text_without_added_lines(self) -> str:
        """The HIP program line for line: without the #include that was added, which gpulab.compile does not need."""
        return _apply(self.source, (edit for edit in self.edits if not (edit.start == edit.end and "\n" in edit.text)))

    def report(self) -> str:
        """The notes as text: for each, file, line, column, kind and finding, then the line itself and the advice.

        Advice that was given before is not repeated: the line is named that it stands at.
        """
        given: dict[str, int] = {}
        shown = []
        for note in self.notes:
            before = given.setdefault(note.advice, note.line)
            again = len(note.advice) > 40 and before != note.line
            shown.append(note.text(self.name, f"As for line {before}." if again else None))
        return "\n".join(shown)

    def statistics(self) -> dict[str, dict[str, int]]:
        """How many changes there are of each API and of each kind, and how many notes of each kind."""
        return {
            "api": dict(sorted(Counter(change.api for change in self.changes).items())),
            "kind": dict(sorted(Counter(change.kind for change in self.changes).items())),
            "note": dict(sorted(Counter(note.kind for note in self.notes).items())),
        }

    def __str__(self) -> str:
        return self.text


def hipify(source: str, *, name: str = "<source>", launches: Launches = "cuda", first_line: int = 1) -> Translation:
    """Translate CUDA C++ to HIP C++, in the role of hipify-perl.

    Comments, strings and whatever is no CUDA name stay as they are; a text without CUDA stays the same to the byte, and
    so does HIP. The text need not compile.

    Args:
        source: the program's text.
        name: what the report calls it, e.g. the file's name.
        launches: "cuda" keeps ``kernel<<<grid, block>>>(...)``, which HIP has too; "hip" writes hipLaunchKernelGGL.
        first_line: the number of the source's first line in changes, notes and the report.

    Raises:
        GpulabError: `launches` is something else, or `source` is no text.
    """
    from gpulab.porting import findings

    if launches not in ("cuda", "hip"):
        raise GpulabError(f'hipify: launches={launches!r} is neither "cuda" (keep <<<>>>) nor "hip".')
    if not isinstance(source, str):
        raise GpulabError(
            f"hipify takes the text of a program, not {type(source).__name__}.",
            hint="gpulab.hipify(open(path).read()), or on the command line: gpulab hipify FILE.",
        )
    worker = _Worker(CppSource(source, first_line), launches)
    worker.run()
    notes = findings.find(worker.program, worker.unknown)
    edits = tuple(sorted(worker.edits, key=_edit_order))
    return Translation(_apply(source, edits), tuple(worker.changes()), notes, source, name, edits, first_line)


def _edit_order(edit: Edit) -> tuple[int, int]:
    return edit.start, edit.end


def _apply(source: str, edits: Iterable[Edit]) -> str:
    """The text after edits in order of place."""
    done, parts = 0, []
    for edit in edits:
        parts += [source[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, source[done:]])


class _Worker:
    """One translation in progress."""

    def __init__(self, program: CppSource, launches: Launches) -> None:
        self.program = program
        self.launches = launches
        self.table = names.names()
        self.edits: list[Edit] = []
        self.reported: list[tuple[int, Change]] = []
        self.unknown: list[tuple[int, names.Name | None]] = []
        """Positions of CUDA names that HIP does not have (with their row) or that the table does not know (None)."""
        self.headers: set[str] = set()
        self.words = False

    def run(self) -> None:
        program = self.program
        for position, kind in enumerate(program.kinds):
            if kind == NAME:
                self._name(position)
            elif kind == HEADER:
                self._header(position)
        if "<<<" in program.source:
            for position, text in enumerate(program.texts):
                if text == "<<<" and program.text(position - 1) != "operator":
                    self.words = True
                    if self.launches == "hip":
                        self._launch(position)
        self._add_include()

    def changes(self) -> list[Change]:
        return [change for _, change in sorted(self.reported, key=lambda entry: entry[0])]

    def _replace(self, start: int, end: int, text: str) -> None:
        self.edits.append(Edit(start, end, text))

    def _record(self, start: int, cuda: str, hip: str, kind: str, api: str) -> None:
        line, column = self.program.place(start)
        self.reported.append((start, Change(line, column, cuda, hip, kind, api)))

    # ------------------------------------------------------------------------------------------- names

    def _name(self, position: int) -> None:
        program = self.program
        text = program.texts[position]
        if text in KEYWORDS:
            return
        if text in _CUDA_WORDS:
            self.words = True
            return
        row = self.table.get(text)
        if row is None or row.kind in ("header", "namespace"):
            if row is not None or text in ("cuda", "cub", "__CUDA_ARCH__"):
                self._special(position, text)
            elif looks_like_cuda(text) and not self._elsewhere(position) and text not in program.declared:
                self.unknown.append((position, None))
            return
        if self._elsewhere(position):
            return
        if text in _LEFT_OUT:
            start = program.starts[position]
            end = start + len(text)
            while program.source[end : end + 1] in (" ", "\t"):
                end += 1
            self._replace(start, end, "")
            self._record(start, text, "", row.kind, row.api)
            return
        if not row.hip:
            if text not in program.declared:
                self.unknown.append((position, row))
            return
        start = program.starts[position]
        if row.hip == text:
            return
        self._replace(start, start + len(text), row.hip)
        self._record(start, text, row.hip, row.kind, row.api)
        if text in SYMBOLS or text in KERNELS or text in POINTERS:
            self._wrap_argument(position, text)

    def _elsewhere(self, position: int) -> bool:
        """Whether a name is somebody else's: a member (x.name, p->name), or in a namespace that CUDA does not have."""
        program = self.program
        before = program.text(position - 1)
        if before in (".", "->", "->*"):
            return True
        if before != "::" or position < 2:
            return False
        owner = program.texts[position - 2]
        adjacent = program.end(position - 2) == program.starts[position - 1]
        if not adjacent or (program.kinds[position - 2] != NAME and owner not in (">", ">>")):
            return False
        return owner not in self.table  # cudaMemcpyKind::cudaMemcpyHostToDevice is CUDA's

    def _special(self, position: int, text: str) -> None:
        """Namespaces, and the macro that says for which device the compiler runs."""
        program = self.program
        start = program.starts[position]
        before, after = program.text(position - 1), program.text(position + 1)
        if text == "cub" and (after == "::" or before == "namespace" or self._namespace_alias(position)):
            if before in (".", "->") or (before == "::" and program.kind(position - 2) == NAME):
                return
            self._replace(start, start + 3, "hipcub")
            self._record(start, "cub", "hipcub", "namespace", "CUB")
        elif text == "cuda" and before == "::" and program.text(position - 2) == "thrust":
            self._replace(start, start + 4, "hip")
            self._record(start, "thrust::cuda", "thrust::hip", "namespace", "Thrust")
        elif text == "__CUDA_ARCH__" and self._asks_whether_defined(position):
            self._replace(start, start + len(text), "__HIP_DEVICE_COMPILE__")
            self._record(start, text, "__HIP_DEVICE_COMPILE__", "macro", "device")

    def _namespace_alias(self, position: int) -> bool:
        """namespace other = cub;"""
        program = self.program
        return program.text(position - 1) == "=" and program.text(position - 3) == "namespace"

    def _asks_whether_defined(self, position: int) -> bool:
        program = self.program
        before = program.text(position - 1)
        if before == "(":
            return program.text(position - 2) == "defined"
        return before in ("ifdef", "ifndef", "elifdef", "elifndef", "defined") and program.directive[position] != NONE

    def _wrap_argument(self, position: int, text: str) -> None:
        program = self.program
        if program.text(position + 1) != "(":
            return
        arguments = program.arguments(position + 1)
        number, opening = next((calls[text], opening) for calls, opening in _WRAPPED if text in calls)
        if number >= len(arguments) or arguments[number][1] < arguments[number][0]:
            return
        first, last = arguments[number]
        if text not in SYMBOLS:
            leading = program.text(first)
            cast = leading in ("reinterpret_cast", "static_cast") or (
                leading == "(" and program.text(program.partner[first] - 1) == "*"
            )
            if cast or program.text(last) in ("nullptr", "NULL"):
                return
        self._replace(program.starts[first], program.starts[first], opening)
        self._replace(program.end(last), program.end(last), ")")

    # ----------------------------------------------------------------------------------------- headers

    def _header(self, position: int) -> None:
        program = self.program
        quoted = program.texts[position]
        path = quoted[1:-1].strip()
        self.headers.add(path)
        hip = self._header_of(path)
        if hip is None:
            return
        if not hip:
            self.unknown.append((position, self.table.get(path)))
            return
        row = self.table.get(path)
        start = program.starts[position]
        self._replace(start, start + len(quoted), quoted[0] + hip + quoted[-1])
        self._record(start, path, hip, "header", row.api if row else ("CUB" if path.startswith("cub/") else "Thrust"))
        self.headers.add(hip)

    def _header_of(self, path: str) -> str | None:
        """HIP's header; "" where there is none; None for a header that is no CUDA header."""
        row = self.table.get(path)
        if row is not None and row.kind == "header":
            return row.hip
        if path.startswith("cub/"):
            return "hipcub/hipcub.hpp"
        if path.startswith("thrust/system/cuda/"):
            return "thrust/system/hip/" + path.removeprefix("thrust/system/cuda/")
        return "" if path.startswith(("cuda/", "nv/")) else None

    def _add_include(self) -> None:
        """CUDA's compiler includes the runtime by itself; HIP's does not."""
        uses = self.words or any(change.kind != "header" for _, change in self.reported)
        if not uses or _RUNTIME in self.headers or (_RUNTIME_API in self.headers and not self.words):
            return
        offset, blank = self._place_for_include()
        end = self._line_end()
        # First of the edits: what else is inserted at the same place comes behind it.
        self.edits.insert(0, Edit(offset, offset, f"#include <{_RUNTIME}>{end}{end if blank else ''}"))
        self._record(offset, "", f"#include <{_RUNTIME}>", "header", "runtime")

    def _line_end(self) -> str:
        """How this text ends its lines."""
        source = self.program.source
        first = source.find("\n")
        if first > 0 and source[first - 1] == "\r":
            return "\r\n"
        return "\r" if first < 0 and "\r" in source else "\n"

    def _place_for_include(self) -> tuple[int, bool]:
        """Before the first #include that no #if may hide, else before everything; and whether an empty line follows."""
        program = self.program
        depth = 0
        for position in range(len(program)):
            if program.directive[position] != position:
                continue
            word = program.text(position + 1)
            if word in ("if", "ifdef", "ifndef"):
                depth += not self._guards_all(position)
            elif word == "endif":
                depth = max(depth - 1, 0)
            elif word in ("include", "import") and depth == 0:
                return program.starts[position] - (program.tokens.place(program.starts[position])[1] - 1), False
        return (1 if program.source.startswith("\ufeff") else 0), True

    def _guards_all(self, position: int) -> bool:
        """Whether this #ifndef is a guard against including twice: the first line of all, a #define of it the next."""
        program = self.program
        defined = program.text(position + 4) == "define" and program.text(position + 5) == program.text(position + 2)
        return position == 0 and program.text(position + 1) == "ifndef" and defined

    # ---------------------------------------------------------------------------------------- launches

    def _launch(self, position: int) -> None:
        """kernel<<<grid, block, shared, stream>>>(...) becomes hipLaunchKernelGGL(kernel, dim3(grid), ...)."""
        program = self.program
        launch = launch_at(program, position)
        if launch is None:
            return
        first, closing, call = launch
        parts = program.split(position + 1, closing)
        kernel = program.between(first, position - 1)
        if "," in kernel:
            kernel_start, kernel_end = "HIP_KERNEL_NAME(", ")"
        else:
            kernel_start, kernel_end = "", ""
        starts, end = program.starts, program.end
        self._replace(starts[first], starts[first], f"hipLaunchKernelGGL({kernel_start}")
        self._join(end(position - 1), starts[parts[0][0]], kernel_end, f", {self._dim3(parts[0])[0]}")
        for number, (before, after) in enumerate(pairwise(parts)):
            close = self._dim3(before)[1] if number < 2 else ""
            opening = self._dim3(after)[0] if number + 1 < 2 else ""
            self._join(end(before[1]), starts[after[0]], close, f", {opening}")
        close = self._dim3(parts[-1])[1] if len(parts) <= 2 else ""
        rest = ", 0" * (4 - len(parts))
        empty = program.partner[call] == call + 1
        inside = starts[call + 1]
        self._join(end(parts[-1][1]), inside, close, f"{rest}{'' if empty else ', '}")
        self._record(starts[first], f"{kernel}<<<>>>", "hipLaunchKernelGGL", "launch", "runtime")

    def _join(self, start: int, end: int, before: str, after: str) -> None:
        """Between two parts of a launch: `before` and `after` instead of signs; comments and line ends stay."""
        between = self.program.source[start:end]
        kept = ""
        if "/" in between or "\n" in between or "\r" in between:
            tokens = scan(between)
            blank = [text for text, kind in zip(tokens.texts, tokens.kinds, strict=True) if kind in BLANK]
            kept = "".join(blank).rstrip(" ")
        self._replace(start, end, before + kept + after)

    def _dim3(self, part: tuple[int, int]) -> tuple[str, str]:
        """What to put around a size, unless it is a dim3 already."""
        program = self.program
        if (
            program.text(part[0]) == "dim3"
            and program.text(part[0] + 1) == "("
            and program.partner[part[0] + 1] == part[1]
        ):
            return "", ""
        return "dim3(", ")"


def launch_at(program: CppSource, position: int) -> tuple[int, int, int] | None:
    """Of the <<< here: where the kernel's name starts, and where >>> and the "(" behind it stand; None if broken."""
    closing = position + 1
    while closing < len(program):
        text = program.texts[closing]
        if text == ">>>":
            break
        if text in ("(", "[", "{"):
            if program.partner[closing] == NONE:
                return None
            closing = program.partner[closing]
        elif text in (";", "{", "}", ")", "<<<"):
            return None
        elif text == "<" and program.kinds[closing - 1] == NAME:
            closing = program.angle(closing, len(program)) or closing
        closing += 1
    call = closing + 1
    parts = program.split(position + 1, closing)
    if program.text(closing) != ">>>" or program.text(call) != "(" or program.partner[call] == NONE:
        return None
    if not 2 <= len(parts) <= 4 or any(last < first for first, last in parts):
        return None
    first = _kernel_start(program, position - 1)
    return None if first is None else (first, closing, call)


def _kernel_start(program: CppSource, position: int) -> int | None:
    """Where the expression that ends at this position, a kernel's name, starts."""
    while True:
        text = program.text(position)
        if text in (">", ">>", ">>>"):
            opening = _angle_before(program, position)
            if opening is None:
                return None
            position = opening - 1
            text = program.text(position)
        elif text in (")", "]"):
            opening = program.partner[position]
            if opening == NONE:
                return None
            if text == ")" and (program.kind(opening - 1) != NAME or program.text(opening - 1) in KEYWORDS):
                return opening
            position = opening - 1
            continue
        if program.kind(position) != NAME or text in _STATEMENTS:
            return None
        before = program.text(position - 1)
        if before == "template":
            position -= 1
            before = program.text(position - 1)
        if before in ("::", ".", "->"):
            if program.kind(position - 2) == NAME or program.text(position - 2) in (">", ")", "]"):
                if program.text(position - 2) in _STATEMENTS:
                    return position - 1
                position -= 2
                continue
            return position - 1 if before == "::" else None
        return position


def _angle_before(program: CppSource, position: int) -> int | None:
    """The "<" that belongs to the closing angle at this position, for template arguments of at most 200 tokens."""
    depth = 0
    for at in range(position, max(position - 200, NONE), -1):
        text = program.texts[at]
        if text in (">", ">>", ">>>"):
            depth += len(text)
        elif text == "<":
            depth -= 1
            if depth == 0:
                return at
        elif text in (";", "{", "}", "<<<"):
            return None
    return None


_PREFIXES = ("cublas", "cufft", "curand", "cusparse", "cusolver", "cudnn", "nvrtc", "nvml", "cupti", "nvtx", "cuda")
_MACROS = ("CU_", "CUBLAS_", "CUFFT_", "CURAND_", "CUSPARSE_", "CUSOLVER_", "CUDNN_", "CUDA_ERROR_")


def looks_like_cuda(text: str) -> bool:
    """Whether a name is of the form that CUDA's have: cudaXyz, cuXyz, cublasXyz, CU_XYZ ..."""
    if not text.startswith(("cu", "CU", "nv")):
        return False
    for prefix in _PREFIXES:
        if text.startswith(prefix):
            following = text[len(prefix) : len(prefix) + 1]
            return following.isupper() or (following == "_" and prefix != "cuda")
    if text.startswith(_MACROS):
        return True
    return len(text) > 4 and text[:2] == "cu" and text[2].isupper() and text[3].islower()
