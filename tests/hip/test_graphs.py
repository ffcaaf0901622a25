"""Graphs that are made node by node, their parameters and executables, as HIP's reference of graph calls has them."""

import ctypes

import numpy as np
import pytest

from gpulab.virtual_gpu import runtime
from gpulab.virtual_gpu.runtime import graph_structures as s
from gpulab.virtual_gpu.runtime.structures import Memcpy3D
from tests.hip.conftest import ok

NO_NODES = (None, 0)
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3


class Builder:
    """A graph in the making: calls of the C library, with errors as assertions; nodes are handles."""

    def __init__(self, call, kernels):
        self.call, self.kernels = call, kernels
        self.graph = call.address("hipGraphCreate", 0)
        self.keep = []

    def add(self, name, after, *more):
        handles = (ctypes.c_uint64 * max(len(after), 1))(*after)
        self.keep.append((handles, more))
        return self.call.address(f"hipGraphAdd{name}", self.graph, handles, len(after), *more)

    def kernel_params(self, name, *arguments, grid=1, block=256, lds=0):
        """hipKernelNodeParams; arguments are ctypes values."""
        addresses = (ctypes.c_void_p * max(len(arguments), 1))(*(ctypes.addressof(one) for one in arguments))
        p = s.KernelNodeParams(func=int(self.kernels(name)), kernelParams=ctypes.addressof(addresses))
        p.gridDim.x, p.gridDim.y, p.gridDim.z = grid, 1, 1
        p.blockDim.x, p.blockDim.y, p.blockDim.z = block, 1, 1
        p.sharedMemBytes = lds
        self.keep.append((p, addresses, arguments))
        return ctypes.byref(p)

    def saxpy(self, after, n, a, x, y):
        return self.add(
            "KernelNode", after, self.kernel_params("saxpy", *saxpy_arguments(n, a, x, y), grid=-(-n // 256))
        )

    def instantiate(self):
        return self.call.address("hipGraphInstantiate", self.graph, None, None, 0)


def saxpy_arguments(n, a, x, y):
    return ctypes.c_int(n), ctypes.c_float(a), ctypes.c_uint64(x), ctypes.c_uint64(y)


@pytest.fixture
def graph(call, kernels):
    made = Builder(call, kernels)
    yield made
    call.hipGraphDestroy(made.graph)


@pytest.fixture
def vectors(hip):
    """Two device arrays of 1,000 floats: 0, 1, 2 ... and ones."""
    host = np.arange(1000, dtype=np.float32)
    made = [ok(hip.hipMalloc(4000)) for _ in range(2)]
    for pointer, values in zip(made, (host, np.ones_like(host)), strict=True):
        ok(hip.hipMemcpy(pointer, values, 4000, hip.hipMemcpyKind.hipMemcpyHostToDevice))
    yield [int(pointer) for pointer in made]
    for pointer in made:
        ok(hip.hipFree(pointer))


def read(hip, pointer, count=1000, kind=np.float32):
    got = np.zeros(count, kind)
    ok(hip.hipMemcpy(got, pointer, got.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    return got


def handles(call, name, of):
    """All handles that a call lists."""
    count = call.number(name, of, None, kind=ctypes.c_size_t, first=False)
    places, room = (ctypes.c_uint64 * (count + 2))(*[7] * (count + 2)), ctypes.c_size_t(count + 2)
    assert getattr(call, name)(of, places, ctypes.byref(room)) == 0
    assert room.value == count
    assert list(places)[count:] == [0, 0]
    return list(places)[:count]


def test_nodes_run_in_the_order_of_their_edges(hip, call, graph, vectors):
    """y = 1 + 2x, then x = 0, then y += 3x is no change; the arguments are those of the moment when a node was made."""
    x, y = vectors
    arguments = saxpy_arguments(1000, 2.0, x, y)
    first = graph.add("KernelNode", [], graph.kernel_params("saxpy", *arguments, grid=4))
    arguments[1].value = 500.0
    last = graph.saxpy([], 1000, 3.0, x, y)
    fill = s.MemsetParams(dst=x, elementSize=4, height=1, pitch=0, value=0, width=1000)
    cleared = graph.add("MemsetNode", [first], ctypes.byref(fill))
    ends = (ctypes.c_uint64 * 1)(cleared), (ctypes.c_uint64 * 1)(last)
    assert call.hipGraphAddDependencies(graph.graph, *ends, 1) == 0
    assert call.hipGraphAddDependencies(graph.graph, *ends, 1) == 1  # it is there already
    executable = graph.instantiate()
    assert call.hipGraphLaunch(executable, None) == call.hipDeviceSynchronize() == 0
    np.testing.assert_array_equal(read(hip, y), 1 + 2 * np.arange(1000, dtype=np.float32))
    assert not read(hip, x).any()
    assert call.hipGraphLaunch(executable, None) == call.hipDeviceSynchronize() == 0  # x is zero now
    np.testing.assert_array_equal(read(hip, y), 1 + 2 * np.arange(1000, dtype=np.float32))
    assert call.hipGraphExecDestroy(executable) == 0
    assert call.hipGraphLaunch(executable, None) == call.hipGraphExecDestroy(executable) == 1


def test_what_a_graph_says_of_its_nodes(call, graph, vectors):
    x, y = vectors
    a = graph.add("EmptyNode", [])
    b, c = graph.saxpy([a], 10, 1.0, x, y), graph.add("EmptyNode", [a])
    d = graph.add("EmptyNode", [b, c])
    assert handles(call, "hipGraphGetNodes", graph.graph) == [a, b, c, d]
    assert handles(call, "hipGraphGetRootNodes", graph.graph) == [a]
    assert handles(call, "hipGraphNodeGetDependencies", d) == [b, c]
    assert handles(call, "hipGraphNodeGetDependentNodes", a) == [b, c]
    assert [call.number("hipGraphNodeGetType", node, first=False) for node in (a, b)] == [5, 0]
    count = call.number("hipGraphGetEdges", graph.graph, None, None, kind=ctypes.c_size_t, first=False)
    before, after, room = (ctypes.c_uint64 * count)(), (ctypes.c_uint64 * count)(), ctypes.c_size_t(count)
    assert call.hipGraphGetEdges(graph.graph, before, after, ctypes.byref(room)) == 0
    assert list(zip(before, after, strict=True)) == [(a, b), (a, c), (b, d), (c, d)]
    assert call.hipGraphRemoveDependencies(graph.graph, before, after, 1) == 0
    assert handles(call, "hipGraphGetRootNodes", graph.graph) == [a, b]
    assert call.hipGraphRemoveDependencies(graph.graph, before, after, 1) == 1
    assert call.hipGraphDestroyNode(c) == 0
    assert handles(call, "hipGraphNodeGetDependencies", d) == [b]
    assert call.hipGraphDestroyNode(c) == call.hipGraphNodeGetType(c, ctypes.byref(room)) == 1


def test_a_circle_and_other_mistakes(call, graph, vectors, kernels):
    x, y = vectors
    a = graph.add("EmptyNode", [])
    b = graph.saxpy([a], 10, 1.0, x, y)
    one, two = (ctypes.c_uint64 * 1)(a), (ctypes.c_uint64 * 1)(b)
    assert call.hipGraphAddDependencies(graph.graph, two, one, 1) == 0
    place, node = ctypes.byref(ctypes.c_uint64()), ctypes.byref(ctypes.c_uint64())
    assert call.hipGraphInstantiate(place, graph.graph, None, None, 0) == 1  # a circle
    assert call.hipGraphAddDependencies(graph.graph, one, one, 1) == 1  # a node and itself
    assert call.hipGraphCreate(place, 1) == call.hipGraphCreate(None, 0) == 1
    assert call.hipGraphDestroy(0x1230) == 401  # hipErrorIllegalState
    assert call.hipGraphAddEmptyNode(node, graph.graph, None, 1) == 1
    assert call.hipGraphAddEmptyNode(node, graph.graph, (ctypes.c_uint64 * 2)(a, a), 2) == 1
    other = Builder(call, kernels)
    assert call.hipGraphAddEmptyNode(node, other.graph, one, 1) == 1  # a node of another graph
    assert call.hipGraphDestroy(other.graph) == 0
    for change, code in (
        ({"func": None}, 1), ({"func": 0x1230}, 98), ({"kernelParams": None}, 1), ({"sharedMemBytes": 1 << 20}, 1),
    ):  # fmt: skip
        p = graph.kernel_params("saxpy", *saxpy_arguments(10, 1.0, x, y))._obj
        for name, value in change.items():
            setattr(p, name, value)
        assert call.hipGraphAddKernelNode(node, graph.graph, None, 0, ctypes.byref(p)) == code, change
    p = graph.kernel_params("saxpy", *saxpy_arguments(10, 1.0, x, y), block=2048)
    assert call.hipGraphAddKernelNode(node, graph.graph, None, 0, p) == 9  # hipErrorInvalidConfiguration
    assert call.hipGraphAddMemcpyNode1D(node, graph.graph, None, 0, x, y, 4001, ON_DEVICE) == 1  # past the end
    assert call.hipGraphAddMemcpyNode1D(node, graph.graph, None, 0, x, y, 0, ON_DEVICE) == 1
    for change in ({"elementSize": 3}, {"dst": None}, {"height": 0}, {"width": 1001}, {"height": 2, "pitch": 3999}):
        fill = s.MemsetParams(dst=x, elementSize=4, height=1, pitch=0, value=0, width=1000)
        for name, value in change.items():
            setattr(fill, name, value)
        assert call.hipGraphAddMemsetNode(node, graph.graph, None, 0, ctypes.byref(fill)) == 1, change
    assert call.hipGraphAddHostNode(node, graph.graph, None, 0, ctypes.byref(s.HostNodeParams())) == 1
    assert call.hipGraphAddEventRecordNode(node, graph.graph, None, 0, None) == 1


def test_nodes_of_other_types_are_refused_by_name(call, graph):
    p = s.GraphNodeParams(type=13)  # what other interfaces call a conditional node
    assert call.hipGraphAddNode(ctypes.byref(ctypes.c_uint64()), graph.graph, None, 0, ctypes.byref(p)) == 801
    assert "HIP has no conditional nodes" in str(runtime.instance().take_exception())


def test_copies_through_a_graph(hip, call, graph, vectors, kernels):
    """Host to device, a rectangle on the device, a variable of a module, and back."""
    x, y = vectors
    source, target = np.arange(100, 1100, dtype=np.float32), np.zeros(1000, np.float32)
    into = graph.add("MemcpyNode1D", [], x, source.ctypes.data, 4000, TO_DEVICE)
    p = Memcpy3D(kind=ON_DEVICE)  # four rows of five floats, 40 bytes apart there and 80 here
    p.srcPtr.ptr, p.srcPtr.pitch, p.dstPtr.ptr, p.dstPtr.pitch = x, 40, y, 80
    p.srcPos.x, p.dstPos.y = 8, 1
    p.extent.width, p.extent.height, p.extent.depth = 20, 4, 1
    between = graph.add("MemcpyNode", [into], ctypes.byref(p))
    graph.add("MemcpyNode1D", [between], target.ctypes.data, y, 4000, TO_HOST)
    executable = graph.instantiate()
    assert call.hipGraphLaunch(executable, None) == 0
    expected = np.ones(1000, np.float32)
    for row in range(4):
        expected[20 * (row + 1) :][:5] = source[10 * row + 2 :][:5]
    np.testing.assert_array_equal(target, expected)
    got = Memcpy3D()
    assert call.hipGraphMemcpyNodeGetParams(between, ctypes.byref(got)) == 0
    assert bytes(got) == bytes(p)
    # another target, in the executable alone; a copy keeps its direction
    assert call.hipGraphExecMemcpyNodeSetParams1D(executable, into, x, source.ctypes.data, 40, TO_DEVICE) == 0
    assert call.hipGraphExecMemcpyNodeSetParams1D(executable, into, x, y, 40, ON_DEVICE) == 1
    source += 1
    assert call.hipGraphLaunch(executable, None) == 0
    assert read(hip, x)[9:12].tolist() == [110, 110, 111]


def test_a_kernels_parameters_are_read_and_set(hip, call, graph, vectors):
    x, y = vectors
    node = graph.saxpy([], 1000, 2.0, x, y)
    p = s.KernelNodeParams()
    assert call.hipGraphKernelNodeGetParams(node, ctypes.byref(p)) == 0
    assert (p.func, p.gridDim.x, p.blockDim.x, p.extra) == (int(graph.kernels("saxpy")), 4, 256, None)
    addresses = (ctypes.c_void_p * 4).from_address(p.kernelParams)
    assert ctypes.c_int.from_address(addresses[0]).value == 1000
    assert ctypes.c_float.from_address(addresses[1]).value == 2.0
    assert [ctypes.c_uint64.from_address(at).value for at in addresses[2:]] == [x, y]
    executable = graph.instantiate()
    changed = graph.kernel_params("saxpy", *saxpy_arguments(1000, 10.0, x, y), grid=4)
    assert call.hipGraphExecKernelNodeSetParams(executable, node, changed) == 0
    assert call.hipGraphLaunch(executable, None) == 0  # y = 1 + 10 x
    assert call.hipGraphLaunch(graph.instantiate(), None) == 0  # the graph itself is as before: y += 2 x
    np.testing.assert_array_equal(read(hip, y), 1 + 12 * np.arange(1000, dtype=np.float32))
    assert call.hipGraphKernelNodeSetParams(node, changed) == 0
    assert call.hipGraphLaunch(graph.instantiate(), None) == 0
    np.testing.assert_array_equal(read(hip, y), 1 + 22 * np.arange(1000, dtype=np.float32))
    assert call.hipGraphExecKernelNodeSetParams(executable, graph.add("EmptyNode", []), changed) == 1


def test_attributes_of_kernel_nodes(call, graph, vectors):
    a, b = graph.saxpy([], 10, 1.0, *vectors), graph.saxpy([], 10, 1.0, *vectors)
    value = (ctypes.c_int * 16)(-1)
    assert call.hipGraphKernelNodeSetAttribute(a, 8, value) == 0  # hipLaunchAttributePriority
    assert call.hipGraphKernelNodeCopyAttributes(a, b) == 0
    value[0] = 5
    assert call.hipGraphKernelNodeGetAttribute(b, 8, value) == 0
    assert value[0] == -1
    value[0] = 1
    assert call.hipGraphKernelNodeSetAttribute(a, 2, value) == 0  # hipLaunchAttributeCooperative
    assert call.hipGraphKernelNodeGetAttribute(a, 2, value) == 0
    assert value[0] == 1
    assert call.hipGraphKernelNodeSetAttribute(a, 1, value) == 801  # an access policy window
    assert call.hipGraphKernelNodeSetAttribute(a, 77, value) == 1


def test_host_nodes_and_events(call, graph, vectors):
    seen = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
    address = ctypes.cast(function, ctypes.c_void_p).value
    events = [call.address("hipEventCreate") for _ in range(2)]
    first = graph.add("EventRecordNode", [], events[0])
    kernel = graph.saxpy([first], 1000, 1.0, *vectors)
    second = graph.add("EventRecordNode", [kernel], events[1])
    host = graph.add("HostNode", [second], ctypes.byref(s.HostNodeParams(address, 77)))
    wait = graph.add("EventWaitNode", [host], events[1])
    executable = graph.instantiate()
    assert call.hipGraphLaunch(executable, None) == 0
    assert seen == [77]
    assert call.hipGraphExecHostNodeSetParams(executable, host, ctypes.byref(s.HostNodeParams(address, 78))) == 0
    assert call.hipGraphLaunch(executable, None) == 0
    assert seen == [77, 78]
    passed = call.number("hipEventElapsedTime", *events, kind=ctypes.c_float)
    assert 0 < passed < 0.1  # milliseconds of the kernel alone
    got = ctypes.c_uint64()
    assert call.hipGraphEventWaitNodeGetEvent(wait, ctypes.byref(got)) == 0
    assert got.value == events[1]
    assert call.hipGraphEventRecordNodeGetEvent(wait, ctypes.byref(got)) == 1
    assert call.hipGraphEventRecordNodeSetEvent(first, events[1]) == 0
    assert call.hipGraphEventRecordNodeGetEvent(first, ctypes.byref(got)) == 0
    assert got.value == events[1]


def test_child_graphs_and_clones(hip, call, graph, vectors, kernels):
    """A child is a clone: what is done to its original later does not reach it."""
    x, y = vectors
    child = Builder(call, kernels)
    inner = child.saxpy([], 1000, 1.0, x, y)
    child.saxpy([inner], 1000, 1.0, x, y)
    node = graph.add("ChildGraphNode", [], child.graph)
    graph.saxpy([node], 1000, 10.0, x, y)
    child.saxpy([], 1000, 1000.0, x, y)
    executable = graph.instantiate()
    assert call.hipGraphLaunch(executable, None) == 0
    np.testing.assert_array_equal(read(hip, y), 1 + 12 * np.arange(1000, dtype=np.float32))
    got = ctypes.c_uint64()
    assert call.hipGraphChildGraphNodeGetGraph(node, ctypes.byref(got)) == 0
    embedded = got.value
    assert len(handles(call, "hipGraphGetNodes", embedded)) == 2
    assert call.hipGraphDestroy(embedded) == 1  # it goes with its node
    clone = call.address("hipGraphClone", graph.graph)
    found = ctypes.c_uint64()
    assert call.hipGraphNodeFindInClone(ctypes.byref(found), node, clone) == 0
    assert found.value in handles(call, "hipGraphGetNodes", clone)
    assert found.value != node
    assert call.hipGraphNodeFindInClone(ctypes.byref(found), inner, clone) == 1
    assert call.hipGraphExecChildGraphNodeSetParams(executable, node, child.graph) == 1  # it has three nodes
    assert call.hipGraphDestroy(clone) == call.hipGraphDestroy(child.graph) == 0


def test_updates_of_a_whole_executable(hip, call, graph, vectors, kernels):
    x, y = vectors
    graph.saxpy([graph.saxpy([], 1000, 1.0, x, y)], 1000, 2.0, x, y)
    executable = graph.instantiate()
    other = Builder(call, kernels)
    last = other.saxpy([other.saxpy([], 1000, 100.0, x, y)], 1000, 200.0, x, y)
    node, result = ctypes.c_uint64(7), ctypes.c_int(7)
    places = ctypes.byref(node), ctypes.byref(result)
    assert call.hipGraphExecUpdate(executable, other.graph, *places) == 0
    assert (node.value, result.value) == (0, 0)
    assert call.hipGraphLaunch(executable, None) == 0
    np.testing.assert_array_equal(read(hip, y), 1 + 300 * np.arange(1000, dtype=np.float32))
    extra = other.add("EmptyNode", [])
    assert call.hipGraphExecUpdate(executable, other.graph, *places) == 910  # hipErrorGraphExecUpdateFailure
    assert result.value == 2  # hipGraphExecUpdateErrorTopologyChanged
    assert call.hipGraphDestroyNode(last) == 0
    assert call.hipGraphExecUpdate(executable, other.graph, *places) == 910
    assert (node.value, result.value) == (extra, 3)  # hipGraphExecUpdateErrorNodeTypeChanged
    assert call.hipGraphDestroy(other.graph) == 0


def test_disabled_nodes_do_nothing(hip, call, graph, vectors):
    x, y = vectors
    first = graph.saxpy([], 1000, 1.0, x, y)
    empty = graph.add("EmptyNode", [first])
    graph.saxpy([empty], 1000, 10.0, x, y)
    executable = graph.instantiate()
    assert call.hipGraphNodeSetEnabled(executable, first, 0) == 0
    got = ctypes.c_uint(7)
    assert call.hipGraphNodeGetEnabled(executable, first, ctypes.byref(got)) == got.value == 0
    assert call.hipGraphLaunch(executable, None) == 0
    np.testing.assert_array_equal(read(hip, y), 1 + 10 * np.arange(1000, dtype=np.float32))
    assert call.hipGraphNodeSetEnabled(executable, empty, 0) == 1  # kernels, copies and memsets alone


def test_memory_of_a_graph(hip, call, graph, kernels):
    """Allocated at an address that is known when the node is made, and free when no graph has it any more."""
    p = s.MemAllocNodeParams(bytesize=4096)
    p.poolProps.allocType = p.poolProps.location.type = 1
    node = graph.add("MemAllocNode", [], ctypes.byref(p))
    pointer = p.dptr
    fill = s.MemsetParams(dst=pointer, elementSize=4, height=1, pitch=0, value=7, width=1024)
    filled = graph.add("MemsetNode", [node], ctypes.byref(fill))
    executable = graph.instantiate()

    def in_use():
        return [attribute(which) for which in (0, 2)]

    def attribute(which):
        got = ctypes.c_uint64()
        assert call.hipDeviceGetGraphMemAttribute(0, which, ctypes.byref(got)) == 0
        return got.value

    assert in_use() == [0, 4096]
    assert call.hipGraphLaunch(executable, None) == 0
    assert in_use() == [4096, 4096]
    assert read(hip, pointer, 1024, np.uint32).tolist() == [7] * 1024
    assert call.hipGraphLaunch(executable, None) == 1  # it was not freed
    assert call.hipFree(pointer) == 0
    assert call.hipFree(pointer) == 1
    assert in_use() == [0, 4096]
    assert call.hipGraphLaunch(executable, None) == 0
    assert call.hipFreeAsync(pointer, None) == 0
    place = ctypes.byref(ctypes.c_uint64())
    assert call.hipGraphInstantiate(place, graph.graph, None, None, 0) == 801  # a second one
    assert call.hipGraphClone(place, graph.graph) == call.hipGraphDestroyNode(node) == 801
    graph.add("MemFreeNode", [filled], pointer)
    assert call.hipGraphAddMemFreeNode(place, graph.graph, None, 0, pointer) == 1  # two nodes free it
    assert call.hipGraphAddMemFreeNode(place, graph.graph, None, 0, 0x1230) == 1
    assert call.hipGraphExecDestroy(executable) == call.hipGraphDestroy(graph.graph) == 0
    assert in_use() == [0, 0]
    assert attribute(3) == 4096
    assert call.hipFree(pointer) == 1
    p.poolProps.location.type = 2
    other = Builder(call, kernels)
    assert call.hipGraphAddMemAllocNode(place, other.graph, None, 0, ctypes.byref(p)) == 1


def test_memory_is_freed_at_the_next_launch_if_asked_for(call, kernels):
    graph = Builder(call, kernels)
    p = s.MemAllocNodeParams(bytesize=4096)
    p.poolProps.allocType = p.poolProps.location.type = 1
    graph.add("MemAllocNode", [], ctypes.byref(p))
    executable = call.address("hipGraphInstantiateWithFlags", graph.graph, 1)
    assert call.number("hipGraphExecGetFlags", executable, kind=ctypes.c_uint64, first=False) == 1
    for _ in range(3):
        assert call.hipGraphLaunch(executable, None) == 0
    assert call.hipGraphExecDestroy(executable) == call.hipGraphDestroy(graph.graph) == 0
    assert call.hipFree(p.dptr) == 0  # it was still allocated, and is the program's


def test_user_objects_go_with_the_last_reference(call, graph):
    gone = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(gone.append)
    object_ = call.address("hipUserObjectCreate", 99, destroy, 1, 1)
    assert call.hipGraphRetainUserObject(graph.graph, object_, 1, 1) == 0  # moved
    executable = graph.instantiate()
    assert call.hipGraphDestroy(graph.graph) == 0
    assert gone == []  # the executable has it
    assert call.hipGraphExecDestroy(executable) == 0
    assert gone == [99]
    second = call.address("hipUserObjectCreate", 98, destroy, 2, 1)
    assert call.hipUserObjectRetain(second, 1) == call.hipUserObjectRelease(second, 2) == 0
    assert gone == [99]
    assert call.hipUserObjectRelease(second, 1) == 0
    assert gone == [99, 98]
    place = ctypes.byref(ctypes.c_uint64())
    assert call.hipUserObjectCreate(place, 1, destroy, 0, 1) == call.hipUserObjectCreate(place, 1, destroy, 1, 0) == 1


def test_values_in_memory(hip, call, graph, vectors):
    x, _ = vectors
    operations = (s.StreamMemoryOperation * 2)((2, x, 5, 0), (1, x, 5, 1))  # write 32 bits, wait until they are equal
    p = s.BatchMemOpNodeParams(None, 2, ctypes.addressof(operations), 0)
    node = graph.add("BatchMemOpNode", [], ctypes.byref(p))
    operations[0].value = 9  # copied already
    assert call.hipGraphLaunch(graph.instantiate(), None) == 0
    assert read(hip, x, 1, np.uint32)[0] == 5
    got = s.BatchMemOpNodeParams()
    assert call.hipGraphBatchMemOpNodeGetParams(node, ctypes.byref(got)) == 0
    assert (got.count, s.StreamMemoryOperation.from_address(got.paramArray).value) == (2, 5)


def test_a_picture_for_graphviz(call, graph, vectors, tmp_path):
    a = graph.add("EmptyNode", [])
    graph.saxpy([a], 10, 1.0, *vectors)
    path = tmp_path / "graph.dot"
    assert call.hipGraphDebugDotPrint(graph.graph, str(path).encode(), 0) == 0
    text = path.read_text()
    assert text.startswith("digraph dot {")
    assert text.count("->") == 1
    assert "saxpy" in text
    assert "block" not in text
    assert call.hipGraphDebugDotPrint(graph.graph, str(path).encode(), 1) == 0  # hipGraphDebugDotFlagsVerbose
    assert "block (256, 1, 1)" in path.read_text()
    assert call.hipGraphDebugDotPrint(graph.graph, b"/no/such/folder/graph.dot", 0) == 304


def test_branches_run_at_the_same_time_and_cost_less_to_launch(call, kernels, vectors):
    """Modelled times: two branches beside each other; each kernel saves gfx942's graph_saving_us (docs/timing.md)."""
    import gpulab
    from gpulab import architectures

    gpulab.use("gfx942")
    x, y = vectors
    graph = Builder(call, kernels)
    first = graph.saxpy([], 1000, 1.0, x, y)
    left, right = graph.saxpy([first], 1000, 1.0, x, y), graph.saxpy([first], 1000, 1.0, x, y)
    graph.saxpy([left, right], 1000, 1.0, x, y)
    executable = graph.instantiate()
    stream = call.address("hipStreamCreateWithFlags", 1)
    plain = graph.kernel_params("saxpy", *saxpy_arguments(1000, 1.0, x, y), grid=4)._obj
    with gpulab.profile() as run:
        assert call.hipGraphLaunch(executable, stream) == 0
        assert call.hipModuleLaunchKernel(plain.func, 4, 1, 1, 256, 1, 1, 0, stream, plain.kernelParams, None) == 0
    kernels_ = [one for one in run.activities if one.kind == "kernel"]
    assert len({one.stream for one in kernels_}) == 2
    assert [one.graph for one in kernels_] == [1, 1, 1, 1, None]
    shown = run.timeline()
    assert "1 graph was launched." in shown.sentence
    assert [row[1] for row in shown.table.rows] == ["kernel (graph 1)"] * 4 + ["kernel"]
    starts, ends = [one.start_us for one in kernels_], [one.end_us for one in kernels_]
    assert starts[0] < ends[0] == starts[1] == starts[2] < ends[1] == ends[2] == starts[3] < ends[3] == starts[4]
    saving = architectures.get("gfx942").graph_saving_us
    assert kernels_[4].us - kernels_[0].us == pytest.approx(saving, abs=1e-6)
    assert run[0].time.overhead_us == pytest.approx(run[4].time.overhead_us - saving)
    assert run[0].placement.total_us == pytest.approx(run[0].time_us)
    assert call.hipStreamDestroy(stream) == 0


@pytest.mark.parametrize("seed", range(5))
def test_any_graph_runs_in_an_order_of_its_edges(call, kernels, seed):
    """Nodes are added in a random order, edges later; a child graph's nodes run where the child stands."""
    chance = np.random.default_rng(seed)
    count = 30
    place = chance.permutation(count)  # of each node in the order that the edges allow
    edges = [(a, b) for a in range(count) for b in range(count) if place[a] < place[b] and chance.random() < 0.15]
    ran = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: ran.append(data or 0))
    address = ctypes.cast(function, ctypes.c_void_p).value
    graph, child = Builder(call, kernels), Builder(call, kernels)
    inner = [child.add("HostNode", [], ctypes.byref(s.HostNodeParams(address, 1000 + n))) for n in range(3)]
    ends = (ctypes.c_uint64 * 1)(inner[2]), (ctypes.c_uint64 * 1)(inner[0])
    assert call.hipGraphAddDependencies(child.graph, *ends, 1) == 0
    nodes = [
        graph.add("ChildGraphNode", [], child.graph)
        if n == 7
        else graph.add("HostNode", [], ctypes.byref(s.HostNodeParams(address, n)))
        for n in range(count)
    ]
    before, after = ((ctypes.c_uint64 * len(edges))(*(nodes[edge[side]] for edge in edges)) for side in (0, 1))
    assert call.hipGraphAddDependencies(graph.graph, before, after, len(edges)) == 0
    listed = handles(call, "hipGraphGetNodes", graph.graph)
    assert all(listed.index(nodes[a]) < listed.index(nodes[b]) for a, b in edges)
    assert call.hipGraphLaunch(graph.instantiate(), None) == 0
    assert sorted(ran) == sorted([*(n for n in range(count) if n != 7), 1000, 1001, 1002])
    assert ran.index(1002) < ran.index(1000)
    when = {n: (ran.index(n), ran.index(n)) for n in range(count) if n != 7}
    own = [ran.index(1000 + n) for n in range(3)]
    when[7] = min(own), max(own)
    assert all(when[a][1] < when[b][0] for a, b in edges)
    assert call.hipGraphDestroy(graph.graph) == call.hipGraphDestroy(child.graph) == 0


def test_with_amds_python_package(hip, kernels, vectors):
    """hip-python's own classes: graph, node, executable."""
    x, y = vectors
    graph = ok(hip.hipGraphCreate(0))
    arguments = saxpy_arguments(1000, 3.0, x, y)
    addresses = (ctypes.c_void_p * 4)(*(ctypes.addressof(one) for one in arguments))
    p = hip.hipKernelNodeParams()
    p.func, p.kernelParams, p.sharedMemBytes = int(kernels("saxpy")), ctypes.addressof(addresses), 0
    p.gridDim.x, p.gridDim.y, p.gridDim.z = 4, 1, 1
    p.blockDim.x, p.blockDim.y, p.blockDim.z = 256, 1, 1
    node = ok(hip.hipGraphAddKernelNode(graph, None, 0, p))
    assert ok(hip.hipGraphNodeGetType(node)) == hip.hipGraphNodeType.hipGraphNodeTypeKernel
    executable = ok(hip.hipGraphInstantiateWithFlags(graph, 0))
    ok(hip.hipGraphLaunch(executable, None))
    ok(hip.hipStreamSynchronize(None))
    np.testing.assert_array_equal(read(hip, y), 1 + 3 * np.arange(1000, dtype=np.float32))
    ok(hip.hipGraphExecDestroy(executable))
    ok(hip.hipGraphDestroy(graph))
