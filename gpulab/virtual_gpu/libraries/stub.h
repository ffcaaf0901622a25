/* What all stub libraries share: how they reach Python, and their status. stub.c has the functions; the generated file of
   a library (stub.py) defines what is declared as its own. */
#ifndef GPULAB_STUB_H
#define GPULAB_STUB_H

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef struct python_object PyObject;

/* Python's C interface, by the names it exports; no Python header is needed to build a stub. */
#define GPULAB_PYTHON(EACH)                                                                   \
  EACH(int, Py_IsInitialized, (void))                                                         \
  EACH(int, PyGILState_Ensure, (void))                                                        \
  EACH(void, PyGILState_Release, (int))                                                       \
  EACH(PyObject *, PyImport_ImportModule, (const char *))                                     \
  EACH(PyObject *, PyObject_CallMethod, (PyObject *, const char *, const char *, ...))        \
  EACH(PyObject *, PyObject_Vectorcall, (PyObject *, PyObject *const *, size_t, PyObject *))  \
  EACH(PyObject *, PyLong_FromLongLong, (long long))                                          \
  EACH(PyObject *, PyLong_FromUnsignedLongLong, (unsigned long long))                         \
  EACH(PyObject *, PyFloat_FromDouble, (double))                                              \
  EACH(unsigned long long, PyLong_AsUnsignedLongLongMask, (PyObject *))                       \
  EACH(PyObject *, PyTuple_GetItem, (PyObject *, intptr_t))                                   \
  EACH(void, PyErr_Fetch, (PyObject **, PyObject **, PyObject **))                            \
  EACH(void, PyErr_NormalizeException, (PyObject **, PyObject **, PyObject **))               \
  EACH(int, PyException_SetTraceback, (PyObject *, PyObject *))                               \
  EACH(void, PyErr_Print, (void))                                                             \
  EACH(void, PyErr_SetInterrupt, (void))                                                      \
  EACH(PyObject *, PyErr_Occurred, (void))                                                    \
  EACH(int, PyGC_Disable, (void))                                                             \
  EACH(int, PyGC_Enable, (void))                                                              \
  EACH(void, Py_IncRef, (PyObject *))                                                         \
  EACH(void, Py_DecRef, (PyObject *))

#define GPULAB_MEMBER(result, name, arguments) result(*name) arguments;
struct gpulab_python_interface {
  GPULAB_PYTHON(GPULAB_MEMBER)
};
extern struct gpulab_python_interface gpulab_py;

/* A library's own, in its generated file. */
struct gpulab_description {
  const char *name;    /* of the library, for Python */
  const char *numbering; /* which functions the numbers of `handlers` mean (Library.numbering) */
  PyObject **handlers; /* room for `count` functions and the one for exceptions */
  size_t count;
  int success, answer, unknown; /* of its status; `answer` is a code that is no error */
  uint64_t interrupted;         /* what Python returns when Ctrl-C is to be raised again */
};
extern const struct gpulab_description gpulab_library;

/* Takes the GIL and attaches to Python on the first call. Negative if there is no usable interpreter. */
int gpulab_enter(void);

/* Calls handler `index` with `count` new references, which are consumed, and releases the GIL. Until it has returned,
   no garbage is collected: a program's own finalizers may call this library, which has its tables half changed. A code that is an error
   without an exception makes Python forget the exception of an earlier call. `kind` is the result's code: after an
   exception, a status is the exception's code, an int -1, an address or a string 0. */
uint64_t gpulab_leave(size_t index, PyObject **values, size_t count, int gil, char kind);

/* Keeps a result as the last one of this thread, and returns it. */
int gpulab_status(int code);

/* For a function that is not implemented: keeps its name. */
void gpulab_is_missing(const char *name);

extern _Thread_local int gpulab_last_error;  /* the last real error of this thread */
extern _Thread_local int gpulab_last_status; /* the result of the last call of this thread */

#endif
