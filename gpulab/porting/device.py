"""The part of a program that the device compiler reads: `device_part` leaves out what runs on the host alone;
`has_main` tells whether there is a whole program."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import cache

from gpulab.porting.structure import NONE, CppSource
from gpulab.porting.tokens import HEADER, words

_DEVICE = frozenset(("__global__", "__device__", "__constant__", "__shared__", "__managed__", "constexpr", "consteval"))
# Names of the host's standard library that a type or a variable outside functions may be made of.
_HOST = words(
    "vector string map unordered_map set unordered_set list deque queue stack function unique_ptr shared_ptr thread "
    "mutex chrono random_device mt19937 mt19937_64 ostream istream ofstream ifstream ostringstream stringstream "
    "optional variant any string_view runtime_error exception FILE"
)
_TYPES = frozenset(("struct", "class", "union", "enum"))
_LINE = re.compile(r"[^\r\n]")


def device_part(source: str, headers: Container[str] | None = None) -> str:
    """HIP text with the host's functions, their includes and types of the standard library blanked out.

    Lines and columns stay, so that messages fit the whole program. Functions marked __global__, __device__ or constexpr
    stay, and so does everything else that is not clearly the host's: macros, constants, plain structures.

    Args:
        source: the program.
        headers: the headers that the device compiler has, gpulab's if None; an #include <...> of another one is
            blanked out.
    """
    if headers is None:
        headers = _own_headers()
    program = CppSource(source)
    blanked = _includes(program, headers)
    _declarations(program, blanked)
    done, parts = 0, []
    for start, end in sorted(blanked):
        if start < done:
            continue
        parts += [source[done:start], _LINE.sub(" ", source[start:end])]
        done = end
    return "".join([*parts, source[done:]])


def has_main(source: str) -> bool:
    """Whether a program has a function main."""
    program = CppSource(source)
    return any(
        text == "main" and program.text(position + 1) == "(" and program.text(position - 1) in ("int", "void", "auto")
        for position, text in enumerate(program.texts)
    )


@cache
def _own_headers() -> frozenset[str]:
    from gpulab.toolchain.build import INCLUDE

    names = (path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*") if path.is_file())
    return frozenset(name for name in names if not name.startswith(("hipblas/", "rocblas/")))  # which the host calls


def _includes(program: CppSource, headers: Container[str]) -> list[tuple[int, int]]:
    found = []
    for position, kind in enumerate(program.kinds):
        text = program.texts[position]
        known = kind != HEADER or not text.startswith("<") or text[1:-1].strip() in headers
        if not known and program.directive[position] == position - 2:
            found.append((program.starts[position - 2], program.end(position)))
    return found


def _declarations(program: CppSource, blanked: list[tuple[int, int]]) -> None:
    """The declarations outside functions, one after the other; namespaces and extern "C" blocks are entered."""
    start = position = 0
    words: set[str] = set()  # of this declaration, outside of brackets
    call = initialised = False
    while position < len(program):
        text = program.texts[position]
        if program.directive[position] != NONE:
            if start == position:
                start = position + 1
            position += 1
            continue
        if text == "{":
            closing = program.partner[position]
            block = "namespace" in words or program.text(position - 2) == "extern"
            if closing == NONE:
                return
            if block:
                start, words, call = position + 1, set(), False
                position += 1
                continue
            is_type = bool(words & _TYPES) and program.text(position - 1) != ")"
            if call and not initialised and not is_type:
                if not words & _DEVICE:
                    blanked.append((program.starts[start], program.end(closing)))
                start, words, call, initialised = closing + 1, set(), False, False
            else:
                words |= set(program.texts[position:closing]) & (_DEVICE | _HOST)
            position = closing + 1
            continue
        if text == ";" or text == "}":
            if words & _HOST and not words & _DEVICE and text == ";":
                blanked.append((program.starts[start], program.end(position)))
            start, words, call, initialised = position + 1, set(), False, False
        elif text in ("(", "["):
            closing = program.partner[position]
            if closing == NONE:
                return
            call = call or (text == "(" and not program.text(position - 1).startswith("__"))
            words |= set(program.texts[position:closing]) & _HOST
            position = closing
        elif text == "=":
            initialised = True
        else:
            words.add(text)
        position += 1
