/* The part of a stub library that all have: finding the interpreter that runs in the same process, calling its functions,
   and the last error of each thread, which is kept in C, so that asking for it costs no Python. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "stub.h"

#include <stdio.h>
#ifndef _WIN32
#include <dlfcn.h>
#endif

struct gpulab_python_interface gpulab_py;
_Thread_local int gpulab_last_error;
_Thread_local int gpulab_last_status;

#define GPULAB_NAME(result, name, arguments) #name,
static const char *const python_names[] = {GPULAB_PYTHON(GPULAB_NAME) NULL};
static const size_t python_count = sizeof python_names / sizeof *python_names - 1;
static _Thread_local const char *missing;
static int inside, collects; /* calls that have not returned; whether garbage was collected before the first of them */
static int attached; /* 1: ready; -1: it cannot be done, which was said */

EXPORT const char *const *gpulab_python_names(void);
EXPORT void gpulab_python(void *const *addresses);
EXPORT const char *gpulab_missing(void);

/* Names of Python's functions, and their addresses in the same order: needed where dlsym does not find them. */
EXPORT const char *const *gpulab_python_names(void) { return python_names; }

EXPORT void gpulab_python(void *const *addresses) {
  void **table = (void **)&gpulab_py;
  for (size_t i = 0; i < python_count; i++) table[i] = addresses[i];
}

EXPORT const char *gpulab_missing(void) { return missing; }

void gpulab_is_missing(const char *name) { missing = name; }

int gpulab_status(int code) {
  gpulab_last_status = code;
  if (code != gpulab_library.success && code != gpulab_library.answer) gpulab_last_error = code;
  return code;
}

static int find_python(void) {
#ifndef _WIN32
  void **table = (void **)&gpulab_py;
  for (size_t i = 0; i < python_count; i++) {
    if (!table[i]) table[i] = dlsym(RTLD_DEFAULT, python_names[i]);
    if (!table[i]) return 0;
  }
#endif
  return gpulab_py.Py_IsInitialized != NULL;
}

/* With the GIL held. */
static int attach(void) {
  PyObject *module = gpulab_py.PyImport_ImportModule("gpulab.virtual_gpu.libraries");
  PyObject *found = module ? gpulab_py.PyObject_CallMethod(module, "handlers", "ss", gpulab_library.name,
                                                         gpulab_library.numbering) : NULL;
  if (!found) {
    attached = -1;
    fprintf(stderr, "gpulab: the virtual library %s cannot start in this interpreter:\n", gpulab_library.name);
    gpulab_py.PyErr_Print();
    if (module) gpulab_py.Py_DecRef(module);
    return 0;
  }
  for (size_t i = 0; i <= gpulab_library.count; i++) {
    PyObject *item = gpulab_py.PyTuple_GetItem(found, (intptr_t)i);
    if (!item) {
      gpulab_py.PyErr_Print();
      return 0;
    }
    gpulab_py.Py_IncRef(item);
    gpulab_library.handlers[i] = item;
  }
  gpulab_py.Py_DecRef(found);
  gpulab_py.Py_DecRef(module);
  attached = 1;
  return 1;
}

int gpulab_enter(void) {
  if (!gpulab_py.Py_IsInitialized && !find_python()) {
    fprintf(stderr, "gpulab: the virtual library %s works inside a Python process only\n", gpulab_library.name);
    return -1;
  }
  if (!gpulab_py.Py_IsInitialized() || attached < 0) return -1;
  int gil = gpulab_py.PyGILState_Ensure();
  if (!attached && !attach()) {
    gpulab_py.PyGILState_Release(gil);
    return -1;
  }
  return gil;
}

/* The code for the exception that a handler raised, which Python tells; NULL if even that failed. */
static PyObject *code_of_exception(size_t index) {
  PyObject *type, *value, *trace, *given[3];
  gpulab_py.PyErr_Fetch(&type, &value, &trace);
  gpulab_py.PyErr_NormalizeException(&type, &value, &trace);
  if (value && trace) gpulab_py.PyException_SetTraceback(value, trace);
  given[0] = type;
  given[1] = value ? value : type;
  given[2] = gpulab_py.PyLong_FromLongLong((long long)index);
  PyObject *answer = gpulab_py.PyObject_Vectorcall(gpulab_library.handlers[gpulab_library.count], given, 3, NULL);
  gpulab_py.Py_DecRef(given[2]);
  if (type) gpulab_py.Py_DecRef(type);
  if (value) gpulab_py.Py_DecRef(value);
  if (trace) gpulab_py.Py_DecRef(trace);
  if (!answer) gpulab_py.PyErr_Print();
  return answer;
}

uint64_t gpulab_leave(size_t index, PyObject **values, size_t count, int gil, char kind) {
  int is_code = kind == 'e';
  uint64_t unknown = is_code ? (uint64_t)gpulab_library.unknown : kind == 'i' ? (uint64_t)-1 : 0;
  uint64_t result = unknown;
  if (!inside++) collects = gpulab_py.PyGC_Disable(); /* of all threads: some work for a launch, and wait for each other */
  PyObject *answer = gpulab_py.PyObject_Vectorcall(gpulab_library.handlers[index], values, count, NULL);
  int failed = !answer;
  if (failed) answer = code_of_exception(index);
  if (answer) {
    result = gpulab_py.PyLong_AsUnsignedLongLongMask(answer);
    gpulab_py.Py_DecRef(answer);
    if (gpulab_py.PyErr_Occurred()) {
      gpulab_py.PyErr_Print();
      result = unknown;
    }
    if (failed && result == gpulab_library.interrupted) {
      gpulab_py.PyErr_SetInterrupt(); /* raised when C has returned */
      result = unknown;
    }
    if (failed && !is_code) result = unknown;
    if (is_code && !failed && result != (uint64_t)gpulab_library.success) {
      answer = gpulab_py.PyObject_Vectorcall(gpulab_library.handlers[gpulab_library.count], NULL, 0, NULL);
      if (answer) gpulab_py.Py_DecRef(answer);
      else gpulab_py.PyErr_Print();
    }
  }
  for (size_t i = 0; i < count; i++) gpulab_py.Py_DecRef(values[i]);
  if (!--inside && collects) gpulab_py.PyGC_Enable();
  gpulab_py.PyGILState_Release(gil);
  return result;
}
