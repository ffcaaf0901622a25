"""HIP's C structures of graphs as ctypes: what nodes are made of (layouts of hip_runtime_api.h, HIP 7)."""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_longlong, c_size_t, c_ubyte, c_uint, c_uint64, c_ulonglong, c_void_p

from gpulab.virtual_gpu.runtime.structures import Dim3, Memcpy3D, MemoryLocation


class KernelNodeParams(ctypes.Structure):
    """hipKernelNodeParams."""

    _fields_ = [
        ("blockDim", Dim3),
        ("extra", c_void_p),
        ("func", c_void_p),
        ("gridDim", Dim3),
        ("kernelParams", c_void_p),
        ("sharedMemBytes", c_uint),
    ]


class MemsetParams(ctypes.Structure):
    """hipMemsetParams: width in elements, pitch in bytes."""

    _fields_ = [
        ("dst", c_void_p),
        ("elementSize", c_uint),
        ("height", c_size_t),
        ("pitch", c_size_t),
        ("value", c_uint),
        ("width", c_size_t),
    ]


class HostNodeParams(ctypes.Structure):
    """hipHostNodeParams."""

    _fields_ = [("fn", c_void_p), ("userData", c_void_p)]


class PoolProperties(ctypes.Structure):
    """hipMemPoolProps."""

    _fields_ = [
        ("allocType", c_int),
        ("handleTypes", c_int),
        ("location", MemoryLocation),
        ("win32SecurityAttributes", c_void_p),
        ("maxSize", c_size_t),
        ("reserved", c_ubyte * 56),
    ]


class MemAllocNodeParams(ctypes.Structure):
    """hipMemAllocNodeParams."""

    _fields_ = [
        ("poolProps", PoolProperties),
        ("accessDescs", c_void_p),
        ("accessDescCount", c_size_t),
        ("bytesize", c_size_t),
        ("dptr", c_void_p),
    ]


class MemcpyNodeParams(ctypes.Structure):
    """hipMemcpyNodeParams."""

    _fields_ = [("flags", c_int), ("reserved", c_int * 3), ("copyParams", Memcpy3D)]


class _NodeUnion(ctypes.Union):
    _fields_ = [
        ("reserved1", c_longlong * 29),
        ("kernel", KernelNodeParams),
        ("memcpy", MemcpyNodeParams),
        ("memset", MemsetParams),
        ("host", HostNodeParams),
        ("graph", c_void_p),
        ("event", c_void_p),
        ("alloc", MemAllocNodeParams),
        ("dptr", c_void_p),
    ]


class GraphNodeParams(ctypes.Structure):
    """hipGraphNodeParams: `event` of both kinds of event nodes, `graph` of a child's, `dptr` of a free node's."""

    _anonymous_ = ("of",)
    _fields_ = [("type", c_int), ("reserved0", c_int * 3), ("of", _NodeUnion), ("reserved2", c_longlong)]


class InstantiateParams(ctypes.Structure):
    """hipGraphInstantiateParams."""

    _fields_ = [
        ("errNode_out", c_void_p),
        ("flags", c_ulonglong),
        ("result_out", c_int),
        ("uploadStream", c_void_p),
    ]


class StreamMemoryOperation(ctypes.Structure):
    """hipStreamBatchMemOpParams: the fields that waiting and writing share; `value` is 32 or 64 bits of it."""

    _fields_ = [
        ("operation", c_int),
        ("address", c_void_p),
        ("value", c_uint64),
        ("flags", c_uint),
        ("alias", c_void_p),
        ("reserved", c_uint64),
    ]


class BatchMemOpNodeParams(ctypes.Structure):
    """hipBatchMemOpNodeParams."""

    _fields_ = [("ctx", c_void_p), ("count", c_uint), ("paramArray", c_void_p), ("flags", c_uint)]
