"""NULL where HIP's calls need an address: each alone gives hipErrorInvalidValue, and nothing is written."""

import ctypes

import pytest

from gpulab.virtual_gpu.runtime import graph_structures as s
from gpulab.virtual_gpu.runtime import structures
from tests.hip.conftest import code_object, ok

P, OWNER, PROPERTIES, LOCATION = "address", "owner", "properties", "location"
"""Arguments that are needed: room for any result, or what it says."""

NEEDED = (P, OWNER, PROPERTIES, LOCATION)
NO_STREAM = NO_NODES = None
EXTENT = structures.Extent(4, 2, 1)

CALLS = {
    # streams and events
    "hipStreamCreate": (P,), "hipStreamCreateWithFlags": (P, 0), "hipStreamCreateWithPriority": (P, 0, 0),
    "hipStreamSetAttribute": (NO_STREAM, 3, P), "hipStreamGetAttribute": (NO_STREAM, 3, P),
    "hipStreamGetFlags": (NO_STREAM, P), "hipStreamGetId": (NO_STREAM, P), "hipStreamGetPriority": (NO_STREAM, P),
    "hipStreamGetDevice": (NO_STREAM, P), "hipEventCreate": (P,), "hipEventCreateWithFlags": (P, 0),
    "hipEventElapsedTime": (P, "event", "event"), "hipStreamEndCapture": (NO_STREAM, P),
    "hipStreamIsCapturing": (NO_STREAM, P), "hipStreamGetCaptureInfo": (NO_STREAM, P, None),
    "hipThreadExchangeStreamCaptureMode": (P,),
    # kernels and modules
    "hipModuleGetGlobal": ("room", None, "module", P), "hipLibraryGetManaged": ("room", None, "library", P),
    "hipLibraryEnumerateKernels": (P, 1, "library"), "hipKernelGetFunction": (P, "kernel"),
    "hipKernelGetLibrary": (P, "kernel"), "hipKernelGetName": (P, "kernel"),
    "hipKernelGetParamInfo": ("kernel", 0, P, None), "hipKernelGetAttribute": (P, 0, "kernel", 0),
    "hipModuleLoad": (P, b"/not/there"), "hipModuleGetFunctionCount": (P, "module"),
    "hipModuleGetFunction": (P, "module", b"fill"), "hipGetSymbolAddress": (P, "symbol"),
    "hipGetSymbolSize": (P, "symbol"), "hipFuncGetAttribute": (P, 0, "function"),
    "hipFuncGetAttributes": (P, "function"), "hipGetFuncBySymbol": (P, "function"),
    "hipLaunchKernelExC": (P, "function", None), "hipDrvLaunchKernelEx": (P, "function", None, None),
    "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor": (P, "function", 64, 0),
    "hipModuleOccupancyMaxPotentialBlockSize": (P, P, "function", 0, 0),
    "hipOccupancyAvailableDynamicSMemPerBlock": (P, "function", 1, 64),
    # memory
    "hipMalloc": (P, 16), "hipExtMallocWithFlags": (P, 16, 0), "hipHostMalloc": (P, 16, 0),
    "hipMallocManaged": (P, 16, 1), "hipMallocPitch": (P, P, 16, 2), "hipMalloc3D": (P, EXTENT),
    "hipMemPtrGetInfo": ("memory", P), "hipPointerGetAttributes": (P, "memory"),
    "hipPointerGetAttribute": (P, 2, "memory"), "hipDrvPointerGetAttributes": (1, P, P, "memory"),
    "hipPointerSetAttribute": (P, 6, "memory"), "hipHostGetDevicePointer": (P, "pinned", 0),
    "hipHostGetFlags": (P, "pinned"), "hipHostUnregister": (P,), "hipMemcpyParam2D": (P,), "hipMemcpy3D": (P,),
    "hipMemcpy3DAsync": (P, NO_STREAM), "hipMemcpy3DPeer": (P,), "hipMemcpy3DPeerAsync": (P, NO_STREAM),
    "hipDrvMemcpy3D": (P,), "hipGetProcAddress": (b"hipMalloc", P, 70000000, 0, None),
    # pools
    "hipMallocAsync": (P, 16, NO_STREAM), "hipMallocFromPoolAsync": (P, 16, "pool", NO_STREAM),
    "hipDeviceGetDefaultMemPool": (P, 0), "hipDeviceGetMemPool": (P, 0), "hipMemPoolCreate": (P, PROPERTIES),
    "hipMemGetDefaultMemPool": (P, LOCATION, 1), "hipMemGetMemPool": (P, LOCATION, 1),
    "hipMemPoolSetAttribute": ("pool", 4, P), "hipMemPoolGetAttribute": ("pool", 4, P),
    "hipMemPoolSetAccess": ("pool", P, 1), "hipMemPoolGetAccess": (P, "pool", LOCATION),
    # virtual memory
    "hipMemGetAllocationGranularity": (P, OWNER, 0), "hipMemAddressReserve": (P, 4096, 0, None, 0),
    "hipMemCreate": (P, 4096, OWNER, 0),
    # arrays and textures; 8 is no array
    "hipMallocArray": (P, P, 4, 4, 0), "hipMalloc3DArray": (P, P, EXTENT, 0), "hipArrayGetDescriptor": (P, 8),
    "hipArray3DGetDescriptor": (P, 8), "hipGetChannelDesc": (P, 8), "hipArrayCreate": (P, P),
    "hipArray3DCreate": (P, P), "hipDeviceGetTexture1DLinearMaxWidth": (P, P, 0),
    "hipMemcpy2DToArray": (8, 0, 0, P, 16, 16, 1, 1), "hipMemcpy2DFromArray": (P, 16, 8, 0, 0, 16, 1, 2),
    "hipCreateTextureObject": (P, P, P, None), "hipTexObjectCreate": (P, P, P, None),
    "hipCreateSurfaceObject": (P, P),
    # graphs
    "hipGraphCreate": (P, 0), "hipGraphAddEmptyNode": (P, "graph", NO_NODES, 0),
    "hipGraphAddKernelNode": ("room", "graph", NO_NODES, 0, P),
    "hipGraphAddMemcpyNode": ("room", "graph", NO_NODES, 0, P),
    "hipDrvGraphAddMemcpyNode": ("room", "graph", NO_NODES, 0, P, 1),
    "hipGraphAddMemsetNode": ("room", "graph", NO_NODES, 0, P),
    "hipGraphAddHostNode": ("room", "graph", NO_NODES, 0, P),
    "hipGraphAddMemAllocNode": ("room", "graph", NO_NODES, 0, P),
    "hipGraphAddBatchMemOpNode": ("room", "graph", NO_NODES, 0, P),
    "hipGraphAddNode": ("room", "graph", NO_NODES, 0, P),
    "hipGraphMemcpyNodeGetParams": ("copy", P), "hipDrvGraphMemcpyNodeGetParams": ("copy", P),
    "hipGraphChildGraphNodeGetGraph": ("child", P), "hipGraphKernelNodeSetAttribute": ("kernel node", 8, P),
    "hipGraphDestroy": (P,), "hipGraphClone": (P, "graph"), "hipGraphNodeFindInClone": (P, "copy", "clone"),
    "hipGraphNodeGetType": ("copy", P), "hipGraphInstantiate": (P, "graph", None, None, 0),
    "hipGraphInstantiateWithFlags": (P, "graph", 0), "hipGraphExecGetFlags": ("executable", P),
    "hipGraphExecUpdate": ("executable", "graph", P, P), "hipGraphNodeGetEnabled": ("executable", "copy", P),
    "hipGraphDebugDotPrint": ("graph", P, 0), "hipGraphAddMemFreeNode": ("room", "graph", NO_NODES, 0, P),
    "hipDeviceGetGraphMemAttribute": (0, 0, P), "hipDeviceSetGraphMemAttribute": (0, 1, P),
    # devices and contexts
    "hipDrvGetErrorName": (1, P), "hipDrvGetErrorString": (1, P), "hipGetDeviceCount": (P,), "hipGetDevice": (P,),
    "hipDeviceGet": (P, 0), "hipDeviceComputeCapability": (P, P, 0), "hipDeviceGetUuid": (P, 0),
    "hipDeviceTotalMem": (P, 0), "hipGetDevicePropertiesR0600": (P, 0), "hipDeviceGetAttribute": (P, 1, 0),
    "hipChooseDeviceR0600": (P, P), "hipGetDeviceFlags": (P,), "hipDeviceGetLimit": (P, 0),
    "hipDeviceGetCacheConfig": (P,), "hipDeviceGetSharedMemConfig": (P,), "hipDeviceCanAccessPeer": (P, 0, 1),
    "hipDeviceGetP2PAttribute": (P, 1, 0, 1), "hipExtGetLinkTypeAndHopCount": (0, 1, P, P),
    "hipCtxCreate": (P, 0, 0), "hipCtxGetCurrent": (P,), "hipCtxGetDevice": (P,),
    "hipDevicePrimaryCtxRetain": (P, 0), "hipDevicePrimaryCtxGetState": (0, P, P),
}  # fmt: skip


@pytest.fixture(scope="module")
def known():
    """What arguments that are not needed name."""
    from hip import hip

    from tests.hip.conftest import Calls

    hip.hipSetDevice(0)
    call, image = Calls("hip"), code_object("gfx942").elf
    module = ok(hip.hipModuleLoadData(image))
    library = call.address("hipLibraryLoadData", image, None, None, 0, None, None, 0)
    found = {
        "event": call.address("hipEventCreate"), "module": int(module), "library": library,
        "function": call.address("hipModuleGetFunction", int(module), b"fill"),
        "kernel": call.address("hipLibraryGetKernel", library, b"fill"),
        "symbol": call.address("hipModuleGetGlobal", None, int(module), b"table"),
        "memory": call.address("hipMalloc", 64), "pinned": call.address("hipHostMalloc", 64, 0),
        "pool": call.address("hipDeviceGetDefaultMemPool", 0), "graph": call.address("hipGraphCreate", 0),
        "room": ctypes.create_string_buffer(4096),
    }  # fmt: skip
    graph, inner = found["graph"], call.address("hipGraphCreate", 0)
    target = ctypes.create_string_buffer(64)
    found["copy"] = call.address("hipGraphAddMemcpyNode1D", graph, None, 0, found["memory"], target, 64, 1)
    found["child"] = call.address("hipGraphAddChildGraphNode", graph, None, 0, inner)
    argument = ctypes.c_uint64(found["memory"])
    place = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    p = s.KernelNodeParams(func=found["function"], kernelParams=ctypes.addressof(place))
    p.gridDim.x = p.gridDim.y = p.gridDim.z = p.blockDim.x = p.blockDim.y = p.blockDim.z = 1
    found["kernel node"] = call.address("hipGraphAddKernelNode", graph, None, 0, ctypes.byref(p))
    found["clone"] = call.address("hipGraphClone", graph)
    found["executable"] = call.address("hipGraphInstantiate", graph, None, None, 0)
    found[OWNER] = structures.AllocationProperties(type=1)
    found[PROPERTIES] = s.PoolProperties(allocType=1)
    found[LOCATION] = structures.MemoryLocation(1, 0)
    found[OWNER].location.type = found[PROPERTIES].location.type = 1
    yield found
    call.hipGraphExecDestroy(found["executable"])
    for one in (graph, inner, found["clone"]):
        call.hipGraphDestroy(one)
    call.hipFree(found["memory"])
    call.hipHostFree(found["pinned"])
    call.hipEventDestroy(found["event"])
    call.hipLibraryUnload(library)
    hip.hipModuleUnload(module)


@pytest.mark.parametrize("name", CALLS)
def test_a_missing_address_is_an_invalid_value(call, known, name):
    given = CALLS[name]
    for missing, word in enumerate(given):
        if word not in NEEDED:
            continue
        room = ctypes.create_string_buffer(4096)
        arguments = []
        for place, one in enumerate(given):
            if place == missing:
                arguments.append(None)
            elif one == P:
                arguments.append(room)
            else:
                value = known.get(one, one) if isinstance(one, str) else one
                arguments.append(ctypes.byref(value) if one in NEEDED else value)
        assert getattr(call, name)(*arguments) == 1, (name, missing)
        assert not any(room.raw), (name, missing)
