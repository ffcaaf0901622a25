"""libgpulabtest: a small library with a status of its own, for tests of the port."""

import ctypes

from gpulab.virtual_gpu.libraries.library import Library, Status
from gpulab.virtual_gpu.runtime import codes


class Pair(ctypes.Structure):
    """testPair_t."""

    _fields_ = [("first", ctypes.c_double), ("second", ctypes.c_int)]


LIBRARY = Library(
    __name__,
    "gpulabtest",
    major=3,
    status=Status(
        "testStatus_t",
        not_supported=7,
        not_initialized=2,
        unknown=9,
        of_hip={codes.INVALID_VALUE: 4, codes.OUT_OF_MEMORY: 5},
    ),
    structures={"V": Pair},
)
