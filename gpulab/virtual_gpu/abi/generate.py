"""Writes the C text of a stub library from the table of prototypes: `source(...)`.

The stub has every function of the table. One that is implemented turns its arguments into Python objects
and calls the Python function of its name (see `gpulab.virtual_gpu.abi.handlers`), by way of the interpreter that
runs in the same process, which it finds by itself on the first call. One that is not returns "not supported"
and remembers its name. The last error of each thread is kept in C, so asking for it costs no Python.
"""

from __future__ import annotations

from collections.abc import Collection

from gpulab.virtual_gpu.abi import prototypes
from gpulab.virtual_gpu.runtime.codes import INTERRUPTED

_TYPES = {
    "p": "void *",
    "z": "size_t",
    "q": "uint64_t",
    "i": "int",
    "u": "unsigned int",
    "h": "unsigned short",
    "b": "unsigned char",
    "f": "float",
    "X": "struct extent",
    "P": "struct pitched",
    "L": "struct location",
    "D": "struct dim3",
    "I": "struct handle64",
}
_RESULTS = {"e": "int", "i": "int", "s": "const char *", "C": "struct channel"}

# Python's C interface, by the names it exports; no Python header is needed to build the stub.
_PYTHON = {
    "Py_IsInitialized": ("int", "void"),
    "PyGILState_Ensure": ("int", "void"),
    "PyGILState_Release": ("void", "int"),
    "PyImport_ImportModule": ("PyObject *", "const char *"),
    "PyObject_CallMethod": ("PyObject *", "PyObject *, const char *, const char *, ..."),
    "PyObject_Vectorcall": ("PyObject *", "PyObject *, PyObject *const *, size_t, PyObject *"),
    "PyLong_FromLongLong": ("PyObject *", "long long"),
    "PyLong_FromUnsignedLongLong": ("PyObject *", "unsigned long long"),
    "PyLong_AsUnsignedLongLongMask": ("unsigned long long", "PyObject *"),
    "PyTuple_GetItem": ("PyObject *", "PyObject *, intptr_t"),
    "PyErr_Fetch": ("void", "PyObject **, PyObject **, PyObject **"),
    "PyErr_NormalizeException": ("void", "PyObject **, PyObject **, PyObject **"),
    "PyException_SetTraceback": ("int", "PyObject *, PyObject *"),
    "PyErr_Print": ("void", "void"),
    "PyErr_SetInterrupt": ("void", "void"),
    "PyErr_Occurred": ("PyObject *", "void"),
    "Py_IncRef": ("void", "PyObject *"),
    "Py_DecRef": ("void", "PyObject *"),
}

_HEAD = r"""
/* Written by gpulab/virtual_gpu/abi/generate.py: the C symbols of a HIP library whose GPU is the CPU. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#include <dlfcn.h>
#define EXPORT __attribute__((visibility("default")))
#endif

typedef struct python_object PyObject;
struct extent { size_t width, height, depth; };
struct pitched { void *ptr; size_t pitch, xsize, ysize; };
struct location { int type, id; };
struct dim3 { unsigned int x, y, z; };
struct handle64 { char bytes[64]; };
struct channel { int x, y, z, w, f; };

static _Thread_local int last_error;   /* hipGetLastError: the last real error of this thread */
static _Thread_local int last_status;  /* hipExtGetLastError: the result of the last call of this thread */
static _Thread_local const char *missing;

static struct {
@DECLARE@
} py;
static const char *const python_names[] = { @NAMES@ };
static PyObject *handlers[@COUNT@ + 1];
static PyObject *failure;
static int attached;  /* 1: ready; -1: it cannot be done, which was said */

static int status(int code) {
  last_status = code;
  if (code != 0 && code != 600) last_error = code;  /* 600: hipErrorNotReady is an answer, not an error */
  return code;
}

/* Addresses of Python's functions in the order of python_names; not needed where dlsym finds them. */
EXPORT void gpulab_python(void *const *addresses) {
  void **table = (void **)&py;
  for (size_t i = 0; i < sizeof py / sizeof(void *); i++) table[i] = addresses[i];
}

EXPORT const char *gpulab_missing(void) { return missing; }

static int find_python(void) {
  void **table = (void **)&py;
  for (size_t i = 0; i < sizeof py / sizeof(void *); i++) {
    if (table[i]) continue;
#ifdef _WIN32
    return 0;
#else
    table[i] = dlsym(RTLD_DEFAULT, python_names[i]);
    if (!table[i]) return 0;
#endif
  }
  return 1;
}

/* With the GIL held. */
static int attach(void) {
  PyObject *module = py.PyImport_ImportModule("gpulab.virtual_gpu.abi");
  PyObject *found = module ? py.PyObject_CallMethod(module, "handlers", "s", "@LIBRARY@") : NULL;
  if (!found) {
    attached = -1;
    fprintf(stderr, "gpulab: the virtual HIP library cannot start in this interpreter:\n");
    py.PyErr_Print();
    if (module) py.Py_DecRef(module);
    return 0;
  }
  for (size_t i = 0; i <= @COUNT@; i++) {
    PyObject *item = py.PyTuple_GetItem(found, (intptr_t)i);
    if (!item) { py.PyErr_Print(); return 0; }
    py.Py_IncRef(item);
    if (i < @COUNT@) handlers[i] = item; else failure = item;
  }
  py.Py_DecRef(found);
  py.Py_DecRef(module);
  attached = 1;
  return 1;
}

/* Takes the GIL and attaches on the first call. Negative if there is no usable interpreter. */
static int enter(void) {
  if (!py.Py_IsInitialized && !find_python()) {
    fprintf(stderr, "gpulab: the virtual HIP library works inside a Python process only\n");
    return -1;
  }
  if (!py.Py_IsInitialized()) return -1;
  if (attached < 0) return -1;
  int gil = py.PyGILState_Ensure();
  if (!attached && !attach()) { py.PyGILState_Release(gil); return -1; }
  return gil;
}

/* Calls handler `index` with `count` new references, which are consumed, and releases the GIL. A code that is an
   error without an exception makes Python forget the exception of an earlier call. */
static uint64_t leave(size_t index, PyObject **values, size_t count, int gil, int is_code) {
  uint64_t result = 999;  /* hipErrorUnknown */
  PyObject *type, *value, *trace;
  PyObject *answer = py.PyObject_Vectorcall(handlers[index], values, count, NULL);
  int failed = !answer;
  if (failed) {
    PyObject *given[3];
    py.PyErr_Fetch(&type, &value, &trace);
    py.PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace) py.PyException_SetTraceback(value, trace);
    given[0] = type; given[1] = value ? value : type; given[2] = py.PyLong_FromLongLong((long long)index);
    answer = py.PyObject_Vectorcall(failure, given, 3, NULL);
    py.Py_DecRef(given[2]);
    if (type) py.Py_DecRef(type);
    if (value) py.Py_DecRef(value);
    if (trace) py.Py_DecRef(trace);
    if (!answer) py.PyErr_Print();
  }
  if (answer) {
    result = py.PyLong_AsUnsignedLongLongMask(answer);
    py.Py_DecRef(answer);
    if (py.PyErr_Occurred()) { py.PyErr_Print(); result = 999; }
    if (failed && result == @INTERRUPTED@) { py.PyErr_SetInterrupt(); result = 999; }  /* raised when C has returned */
    if (is_code && result && !failed) {
      answer = py.PyObject_Vectorcall(failure, NULL, 0, NULL);
      if (answer) py.Py_DecRef(answer); else py.PyErr_Print();
    }
  }
  for (size_t i = 0; i < count; i++) py.Py_DecRef(values[i]);
  py.PyGILState_Release(gil);
  return result;
}
"""

_HIP_ONLY = r"""
EXPORT int hipGetLastError(void) { int code = last_error; last_error = 0; return code; }
EXPORT int hipPeekAtLastError(void) { return last_error; }
EXPORT int hipExtGetLastError(void) { int code = last_status; last_status = 0; return code; }
EXPORT struct channel hipCreateChannelDesc(int x, int y, int z, int w, int f) {
  struct channel result = { x, y, z, w, f };
  return result;
}

/* kernel<<<...>>>(...): the configuration waits here while the arguments are computed, which may launch as well. */
struct call { struct dim3 grid, block; size_t lds; void *stream; };
static _Thread_local struct call calls[64];
static _Thread_local unsigned depth;
EXPORT int __hipPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t lds, void *stream) {
  if (depth == 64) return status(1);
  calls[depth++] = (struct call){ grid, block, lds, stream };
  return 0;
}
EXPORT int __hipPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *lds, void **stream) {
  if (!grid || !block || !lds || !stream) return status(1);
  if (depth == 0) return status(52);  /* hipErrorMissingConfiguration */
  struct call *last = &calls[--depth];
  *grid = last->grid; *block = last->block; *lds = last->lds; *stream = last->stream;
  return 0;
}
"""

#: Functions written in C above.
IN_C = {
    "hip": {
        "hipGetLastError", "hipPeekAtLastError", "hipExtGetLastError", "hipCreateChannelDesc",
        "__hipPushCallConfiguration", "__hipPopCallConfiguration",
    },
    "hiprtc": set(),
}  # fmt: skip

_NOT_INITIALIZED, _NOT_SUPPORTED, _HIPRTC_INTERNAL = 3, 801, 11


def table(library: str) -> list[tuple[str, str, str]]:
    """The rows of "hip" or "hiprtc" that are not written in C by hand."""
    text = prototypes.HIP if library == "hip" else prototypes.HIPRTC
    return [row for row in prototypes.rows(text) if row[0] not in IN_C[library]]


def _object(code: str, name: str) -> str:
    if code == "i":
        return f"py.PyLong_FromLongLong({name})"
    if code in "uhbzq":
        return f"py.PyLong_FromUnsignedLongLong({name})"
    if code == "p":
        return f"py.PyLong_FromUnsignedLongLong((uintptr_t){name})"
    return f"py.PyLong_FromUnsignedLongLong((uintptr_t)&{name})"  # a structure: its address during the call


def _function(library: str, index: int | None, row: tuple[str, str, str]) -> str:
    name, result, arguments = row
    error = _RESULTS[result]
    wrap = "status" if library == "hip" and result == "e" else ""
    if index is None:
        code = {"s": '""', "i": "-1"}.get(
            result
        ) or f"{wrap}({_NOT_SUPPORTED if library == 'hip' else _HIPRTC_INTERNAL})"
        return f'EXPORT {error} {name}() {{ missing = "{name}"; return {code}; }}'
    declared = ", ".join(f"{_TYPES[code]} a{i}" for i, code in enumerate(arguments)) or "void"
    count = len(arguments)
    values = ", ".join(_object(code, f"a{i}") for i, code in enumerate(arguments)) or "NULL"
    failed = {"s": '""', "i": "-1"}.get(
        result
    ) or f"{wrap}({_NOT_INITIALIZED if library == 'hip' else _HIPRTC_INTERNAL})"
    cast = "(const char *)(uintptr_t)" if result == "s" else "(int)"
    return (
        f"EXPORT {error} {name}({declared}) {{ int gil = enter(); if (gil < 0) return {failed};\n"
        f"  PyObject *v[{max(count, 1)}] = {{ {values} }};\n"
        f"  return {wrap}({cast}leave({index}, v, {count}, gil, {int(result == 'e')})); }}"
    )


def source(library: str, implemented: Collection[str]) -> str:
    """The C text of a library.

    Args:
        library: "hip" or "hiprtc".
        implemented: names of the functions that Python implements.
    """
    rows = table(library)
    handled = names(library, implemented)
    head = (
        _HEAD.replace("@DECLARE@", "\n".join(f"  {r} (*{n})({a});" for n, (r, a) in _PYTHON.items()))
        .replace("@NAMES@", ", ".join(f'"{name}"' for name in _PYTHON))
        .replace("@COUNT@", str(len(handled)))
        .replace("@LIBRARY@", library)
        .replace("@INTERRUPTED@", str(INTERRUPTED))
    )
    position = {name: i for i, name in enumerate(handled)}
    functions = [_function(library, position.get(row[0]), row) for row in rows]
    return head + (_HIP_ONLY if library == "hip" else "") + "\n".join(functions) + "\n"


def names(library: str, implemented: Collection[str]) -> list[str]:
    """The implemented functions of a library in the order of their numbers in the stub."""
    return [row[0] for row in table(library) if row[0] in implemented]


def python_names() -> tuple[str, ...]:
    """Python's own functions that the stub uses, in the order of `gpulab_python`."""
    return tuple(_PYTHON)
