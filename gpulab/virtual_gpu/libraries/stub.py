"""The generated C file of a stub library: its description, and a function for each prototype that is not in own.c.

A function that is implemented turns its arguments into Python objects and calls the Python function of its name by way
of stub.c, which is compiled along. One that is not returns "not supported" and keeps its name.
"""

from __future__ import annotations

import ctypes

from gpulab.virtual_gpu.libraries.library import RESULTS, TYPES, Library, Prototype
from gpulab.virtual_gpu.runtime.codes import INTERRUPTED


def source(library: Library) -> str:
    """The C text for a library."""
    handled = library.handled()
    status = library.status
    place = {name: index for index, name in enumerate(handled)}
    head = [
        f"/* lib{library.file}: made from {library.name}/prototypes.tsv */",
        '#include "stub.h"',
        '#include "own.h"' if library.own("own.h") is not None else "",
        f"static PyObject *handlers[{len(handled) + 1}];",
        f'const struct gpulab_description gpulab_library = {{"{library.name}", "{library.numbering()}", handlers, '
        f"{len(handled)}, {status.success}, {status.answer}, {status.unknown}, {INTERRUPTED}}};",
    ]
    head += [_layout(structure) for structure in library.structures.values()]
    return "\n".join([*head, *(_function(library, one, place) for one in library.prototypes() if not one.in_c), ""])


def _layout(structure: type[ctypes.Structure]) -> str:
    """What C asserts of a structure: its size, and where its fields are."""
    name = f"struct {structure.__name__}"
    checks = [f'_Static_assert(sizeof({name}) == {ctypes.sizeof(structure)}, "{name}");']
    for entry in structure._fields_:
        offset = getattr(structure, entry[0]).offset
        checks.append(f'_Static_assert(offsetof({name}, {entry[0]}) == {offset}, "{name}.{entry[0]}");')
    return "\n".join(checks)


def _function(library: Library, one: Prototype, place: dict[str, int]) -> str:
    types = {**TYPES, **{code: f"struct {one.__name__}" for code, one in library.structures.items()}}
    result = RESULTS[one.result]
    status = library.status
    if one.name not in place:
        start = f"EXPORT {result} {one.name}(void);\nEXPORT {result} {one.name}(void)"
        return f'{start} {{ gpulab_is_missing("{one.name}"); return {_otherwise(one, status.not_supported)}; }}'
    declared = ", ".join(f"{types[code]} a{i}" for i, code in enumerate(one.arguments)) or "void"
    count = len(one.arguments)
    values = ", ".join(_object(code, f"a{i}") for i, code in enumerate(one.arguments)) or "NULL"
    cast = "(int)" if one.result in "ei" else f"({result})(uintptr_t)"
    answer = f"{cast}gpulab_leave({place[one.name]}, v, {count}, gil, '{one.result}')"
    if one.result == "e":
        answer = f"gpulab_status({answer})"
    return (
        f"EXPORT {result} {one.name}({declared});\n"
        f"EXPORT {result} {one.name}({declared}) {{ int gil = gpulab_enter(); "
        f"if (gil < 0) return {_otherwise(one, status.not_initialized)};\n"
        f"  PyObject *v[{max(count, 1)}] = {{ {values} }};\n"
        f"  return {answer}; }}"
    )


def _otherwise(one: Prototype, code: int) -> str:
    """What a function returns that cannot do its work."""
    return {"i": "-1", "s": '""', "p": "NULL"}.get(one.result) or f"gpulab_status({code})"


def _object(code: str, name: str) -> str:
    """The Python object for an argument: a structure becomes its address during the call."""
    if code in "il":
        return f"gpulab_py.PyLong_FromLongLong({name})"
    if code in "uhbzq":
        return f"gpulab_py.PyLong_FromUnsignedLongLong({name})"
    if code in "fd":
        return f"gpulab_py.PyFloat_FromDouble((double){name})"
    return f"gpulab_py.PyLong_FromUnsignedLongLong((uintptr_t){'' if code == 'p' else '&'}{name})"
