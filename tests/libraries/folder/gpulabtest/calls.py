"""The functions of libgpulabtest."""

import ctypes
import itertools

from gpulab.virtual_gpu.libraries.gpulabtest import Pair

from gpulab.virtual_gpu.libraries.library import StatusFailure
from gpulab.virtual_gpu.libraries.values import need, put64, put_float, rt

BAD_HANDLE = 6
_handles = itertools.count(0x11_0000_0010, 16)
_open: set[int] = set()
_names: dict[int, ctypes.Array[ctypes.c_char]] = {}


def _known(handle: int) -> None:
    if handle not in _open:
        raise StatusFailure(BAD_HANDLE)


def testCreate(handle: int) -> int:
    need(handle)
    made = next(_handles)
    _open.add(made)
    put64(handle, made)
    return 0


def testDestroy(handle: int) -> int:
    _known(handle)
    _open.remove(handle)
    return 0


def testSum(handle: int, values: int, count: int, total: int) -> int:
    _known(handle)
    need(values, total)
    rt.memory.device_range(values, 4 * count)
    put_float(total, sum((ctypes.c_float * count).from_address(rt.memory.home(values))))
    return 0


def testScale(handle: int, pair: int, a: float, b: float, c: int, result: int) -> int:
    _known(handle)
    need(result)
    given = Pair.from_address(pair)
    (ctypes.c_double * 5).from_address(result)[:] = (given.first, given.second, a, b, c)
    return 0


def testName(code: int) -> int:
    text = _names.setdefault(code, ctypes.create_string_buffer(f"TEST_{code}".encode()))
    return ctypes.addressof(text)
