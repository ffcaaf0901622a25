"""Graphs that are made node by node, their parameters and executables, as HIP's reference of graph calls has them."""

import ctypes
import itertools

import numpy as np
import pytest

from gpulab.virtual_gpu import runtime
from gpulab.virtual_gpu.runtime import graph_structures as s
from gpulab.virtual_gpu.runtime.structures import DriverMemcpy3D, Memcpy3D
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
        return self.add_of(f"hipGraphAdd{name}", after, *more)

    def add_of(self, call, after, *more):
        handles = (ctypes.c_uint64 * max(len(after), 1))(*after)
        self.keep.append((handles, more))
        return self.call.address(call, self.graph, handles, len(after), *more)

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


# Every node's parameters, there and back


@pytest.fixture
def table(call, kernels):
    """The address on the device of the module's variable of four ints, 10 to 40."""
    place = ctypes.c_uint64()
    assert call.hipModuleGetGlobal(ctypes.byref(place), None, int(kernels.module), b"table") == 0
    return place.value


def test_copies_to_and_from_a_variable(call, graph, table):
    """Bytes from an offset on; directions to the host are refused for one, and to the device for the other."""
    given, got = (ctypes.c_int * 2)(7, 8), (ctypes.c_int * 2)()
    to = graph.add("MemcpyNodeToSymbol", [], table, given, 8, 4, TO_DEVICE)
    back = graph.add("MemcpyNodeFromSymbol", [to], got, table, 8, 8, TO_HOST)
    executable = graph.instantiate()
    assert call.hipGraphLaunch(executable, None) == 0
    assert list(got) == [8, 40]
    shown = Memcpy3D()
    assert call.hipGraphMemcpyNodeGetParams(to, ctypes.byref(shown)) == 0
    assert (shown.dstPtr.ptr, shown.srcPtr.ptr) == (table + 4, ctypes.addressof(given))
    assert (shown.extent.width, shown.extent.height, shown.extent.depth, shown.kind) == (8, 1, 1, TO_DEVICE)
    # in the executable alone: the first int from the second of `given`, and back the second and third
    assert call.hipGraphExecMemcpyNodeSetParamsToSymbol(
        executable, to, table, ctypes.addressof(given) + 4, 4, 0, TO_DEVICE
    ) == 0  # fmt: skip
    assert call.hipGraphExecMemcpyNodeSetParamsFromSymbol(executable, back, got, table, 8, 0, TO_HOST) == 0
    assert call.hipGraphLaunch(executable, None) == 0
    assert list(got) == [8, 7]
    # in the graph
    assert call.hipGraphMemcpyNodeSetParamsToSymbol(to, table, given, 8, 8, TO_DEVICE) == 0
    assert call.hipGraphMemcpyNodeSetParamsFromSymbol(back, got, table, 8, 4, TO_HOST) == 0
    assert call.hipGraphLaunch(graph.instantiate(), None) == 0
    assert list(got) == [7, 7]
    node = ctypes.byref(ctypes.c_uint64())
    for kind, to_code, from_code in ((0, 21, 21), (1, 0, 21), (2, 21, 0), (3, 0, 0), (4, 0, 0), (5, 21, 21)):
        away = table if kind == 3 else ctypes.addressof(got)
        assert call.hipGraphAddMemcpyNodeToSymbol(node, graph.graph, None, 0, table, away, 8, 8, kind) == to_code
        assert call.hipGraphAddMemcpyNodeFromSymbol(node, graph.graph, None, 0, away, table, 8, 8, kind) == from_code
    for size, offset, code in ((8, 8, 0), (8, 9, 1), (9, 8, 1), (0, 0, 1)):
        rest = size, offset
        assert call.hipGraphAddMemcpyNodeToSymbol(node, graph.graph, None, 0, table, given, *rest, TO_DEVICE) == code
        assert call.hipGraphAddMemcpyNodeFromSymbol(node, graph.graph, None, 0, got, table, *rest, TO_HOST) == code
    assert call.hipGraphAddMemcpyNodeToSymbol(node, graph.graph, None, 0, table, None, 8, 0, TO_DEVICE) == 1
    assert call.hipGraphAddMemcpyNodeFromSymbol(node, graph.graph, None, 0, None, table, 8, 0, TO_HOST) == 1


HOST, DEVICE, MANAGED, UNIFIED = 1, 2, 3, 11  # hipMemoryType of the driver's interface


def driver_copy(source, target, types, **fields):
    """HIP_MEMCPY3D of 8 bytes, 3 rows and 2 slices between two addresses of these memory types."""
    p = DriverMemcpy3D(WidthInBytes=8, Height=3, Depth=2, srcMemoryType=types[0], dstMemoryType=types[1])
    setattr(p, "srcHost" if types[0] == HOST else "srcDevice", source)
    setattr(p, "dstHost" if types[1] == HOST else "dstDevice", target)
    for name, value in fields.items():
        setattr(p, name, value)
    return p


def test_the_drivers_copies(hip, call, graph, vectors):
    """Boxes of bytes with pitches, rows of slices and places: what numpy's slices of the same boxes are."""
    x, y = vectors
    source, target = np.arange(240, dtype=np.uint8), np.zeros(240, np.uint8)
    place = {
        "srcXInBytes": 2, "srcY": 1, "srcZ": 1, "srcPitch": 12, "srcHeight": 5,
        "dstXInBytes": 4, "dstY": 2, "dstZ": 1, "dstPitch": 16, "dstHeight": 5,
    }  # fmt: skip
    p = driver_copy(source.ctypes.data, x, (HOST, DEVICE), **place)
    into = graph.add_of("hipDrvGraphAddMemcpyNode", [], ctypes.byref(p), 1)
    q = driver_copy(x, target.ctypes.data, (DEVICE, HOST), WidthInBytes=240, Height=1, Depth=1)
    back = graph.add_of("hipDrvGraphAddMemcpyNode", [into], ctypes.byref(q), 1)
    executable = graph.instantiate()
    before = read(hip, x, 240, np.uint8)
    assert call.hipGraphLaunch(executable, None) == 0
    expected = before.copy()
    expected[:240].reshape(3, 5, 16)[1:3, 2:5, 4:12] = source[:180].reshape(3, 5, 12)[1:3, 1:4, 2:10]
    np.testing.assert_array_equal(target, expected)
    shown = DriverMemcpy3D()
    for node, given, kind in ((into, p, TO_DEVICE), (back, q, TO_HOST)):
        ctypes.memset(ctypes.byref(shown), 0xAA, ctypes.sizeof(shown))
        assert call.hipDrvGraphMemcpyNodeGetParams(node, ctypes.byref(shown)) == 0
        pitches = {
            "srcPitch": given.srcPitch or 240,
            "srcHeight": given.srcHeight or 1,
            "dstPitch": given.dstPitch or 240,
        }
        like = DriverMemcpy3D.from_buffer_copy(given)
        for name, value in pitches.items():
            setattr(like, name, value)
        like.dstHeight = given.dstHeight or 1
        # Where it begins is in the addresses.
        start = (given.srcZ * like.srcHeight + given.srcY) * like.srcPitch + given.srcXInBytes
        end = (given.dstZ * like.dstHeight + given.dstY) * like.dstPitch + given.dstXInBytes
        side = ("srcHost", "dstDevice") if kind == TO_DEVICE else ("srcDevice", "dstHost")
        setattr(like, side[0], getattr(given, side[0]) + start)
        setattr(like, side[1], getattr(given, side[1]) + end)
        for name in ("srcXInBytes", "srcY", "srcZ", "dstXInBytes", "dstY", "dstZ"):
            setattr(like, name, 0)
        assert {n: getattr(shown, n) for n, _ in shown._fields_} == {n: getattr(like, n) for n, _ in like._fields_}
        plain = Memcpy3D()
        assert call.hipGraphMemcpyNodeGetParams(node, ctypes.byref(plain)) == 0
        assert plain.kind == kind
    changed = driver_copy(source.ctypes.data, x, (HOST, DEVICE), WidthInBytes=240, Height=1, Depth=1)
    assert call.hipDrvGraphExecMemcpyNodeSetParams(executable, into, ctypes.byref(changed), 1) == 0
    assert call.hipGraphLaunch(executable, None) == 0
    np.testing.assert_array_equal(target, source)
    between = driver_copy(x, y, (DEVICE, DEVICE))
    assert call.hipDrvGraphExecMemcpyNodeSetParams(executable, into, ctypes.byref(between), 1) == 1  # its direction
    assert call.hipDrvGraphMemcpyNodeSetParams(into, ctypes.byref(between)) == 0
    assert call.hipDrvGraphMemcpyNodeGetParams(into, ctypes.byref(shown)) == 0
    assert (shown.srcMemoryType, shown.srcDevice, shown.srcHost) == (DEVICE, x, None)
    assert (shown.dstMemoryType, shown.dstDevice, shown.dstHost) == (DEVICE, y, None)


@pytest.mark.parametrize(
    ("types", "kind"),
    [
        ((HOST, HOST), 0), ((HOST, DEVICE), TO_DEVICE), ((DEVICE, HOST), TO_HOST), ((DEVICE, DEVICE), ON_DEVICE),
        ((UNIFIED, DEVICE), ON_DEVICE), ((HOST, UNIFIED), TO_DEVICE), ((MANAGED, HOST), TO_HOST),
        ((4, DEVICE), None), ((0, DEVICE), None), ((DEVICE, 12), None), ((DEVICE, 10), None),
    ],
)  # fmt: skip
def test_the_memory_types_of_the_drivers_copies(call, graph, vectors, types, kind):
    memory = [np.zeros(48, np.uint8) for _ in range(2)]
    source, target = (
        host.ctypes.data if type_ == HOST else device
        for type_, host, device in zip(types, memory, vectors, strict=True)
    )
    p, node = driver_copy(source, target, types), ctypes.c_uint64()
    given = ctypes.byref(node), graph.graph, None, 0, ctypes.byref(p)
    assert call.hipDrvGraphAddMemcpyNode(*given, 1) == (1 if kind is None else 0)
    if kind is not None:
        shown = Memcpy3D()
        assert call.hipGraphMemcpyNodeGetParams(node.value, ctypes.byref(shown)) == 0
        assert (shown.kind, shown.srcPtr.ptr, shown.dstPtr.ptr) == (kind, source, target)
        assert call.hipDrvGraphAddMemcpyNode(*given, None) == 1  # without a context
        for name in ("srcHost", "srcDevice"):
            setattr(p, name, None)
        assert call.hipDrvGraphAddMemcpyNode(*given, 1) == 1  # from nowhere
        p.srcArray = 0x1230
        assert call.hipDrvGraphAddMemcpyNode(*given, 1) == 801
        assert "hipGraphAddMemcpyNode does it" in str(runtime.instance().take_exception())


def test_unified_memory_of_the_drivers_copies_stands_in_either_field(call, graph, vectors):
    node = ctypes.c_uint64()
    p = driver_copy(vectors[0], vectors[1], (UNIFIED, UNIFIED), srcDevice=None, srcHost=vectors[0])
    assert call.hipDrvGraphAddMemcpyNode(ctypes.byref(node), graph.graph, None, 0, ctypes.byref(p), 1) == 0
    shown = Memcpy3D()
    assert call.hipGraphMemcpyNodeGetParams(node.value, ctypes.byref(shown)) == 0
    assert (shown.kind, shown.srcPtr.ptr, shown.dstPtr.ptr) == (ON_DEVICE, *vectors)


def test_a_kernels_arguments_as_one_piece(hip, call, graph, vectors):
    """`extra`: HIP_LAUNCH_PARAM_BUFFER_POINTER (1), _SIZE (2), _END (3)."""
    x, y = vectors
    packed = np.zeros(24, np.uint8)
    packed[:4], packed[4:8] = np.int32([1000]).view(np.uint8), np.float32([2]).view(np.uint8)
    packed[8:] = np.uint64([x, y]).view(np.uint8)
    size = ctypes.c_size_t(24)
    extra = (ctypes.c_void_p * 5)(1, packed.ctypes.data, 2, ctypes.addressof(size), 3)
    p = graph.kernel_params("saxpy", grid=4)._obj
    p.kernelParams, p.extra = None, ctypes.addressof(extra)
    node = graph.add("KernelNode", [], ctypes.byref(p))
    assert call.hipGraphLaunch(graph.instantiate(), None) == 0
    np.testing.assert_array_equal(read(hip, y), 1 + 2 * np.arange(1000, dtype=np.float32))
    shown = s.KernelNodeParams()
    assert call.hipGraphKernelNodeGetParams(node, ctypes.byref(shown)) == 0
    places = (ctypes.c_void_p * 4).from_address(shown.kernelParams)
    assert ctypes.c_int.from_address(places[0]).value == 1000
    assert ctypes.c_uint64.from_address(places[3]).value == y
    p.kernelParams = ctypes.addressof(extra)
    assert call.hipGraphAddKernelNode(ctypes.byref(size), graph.graph, None, 0, ctypes.byref(p)) == 1
    assert "not as both" in str(runtime.instance().take_exception())


def test_all_fields_of_a_kernels_parameters(call, graph):
    out = ctypes.c_uint64(0x1000)
    p = graph.kernel_params("sizes", out)._obj
    p.gridDim.x, p.gridDim.y, p.gridDim.z = 2, 3, 4
    p.blockDim.x, p.blockDim.y, p.blockDim.z = 5, 6, 7
    p.sharedMemBytes = 96
    node = graph.add("KernelNode", [], ctypes.byref(p))
    shown = s.KernelNodeParams(extra=8)
    assert call.hipGraphKernelNodeGetParams(node, ctypes.byref(shown)) == 0
    assert [shown.gridDim.x, shown.gridDim.y, shown.gridDim.z] == [2, 3, 4]
    assert [shown.blockDim.x, shown.blockDim.y, shown.blockDim.z] == [5, 6, 7]
    assert (shown.sharedMemBytes, shown.func, shown.extra) == (96, p.func, None)
    value = (ctypes.c_int * 16)(3)
    assert call.hipGraphKernelNodeSetAttribute(node, 8, value) == 0
    p.sharedMemBytes = 128
    assert call.hipGraphKernelNodeSetParams(node, ctypes.byref(p)) == 0  # its attributes stay
    assert call.hipGraphKernelNodeGetAttribute(node, 8, value) == 0
    assert call.hipGraphKernelNodeGetParams(node, ctypes.byref(shown)) == 0
    assert (value[0], shown.sharedMemBytes) == (3, 128)
    assert call.hipGraphKernelNodeGetParams(node, None) == call.hipGraphKernelNodeGetParams(1, ctypes.byref(p)) == 1


def test_a_memsets_parameters_are_read_and_set(hip, call, graph, vectors):
    """Two rows of three 2-byte elements, 10 bytes apart; the value is cut to an element."""
    x, _ = vectors
    fill = s.MemsetParams(dst=x + 2, elementSize=2, height=2, pitch=10, value=0xABCD1234, width=3)
    node = graph.add_of("hipDrvGraphAddMemsetNode", [], ctypes.byref(fill), None)
    shown = s.MemsetParams()
    assert call.hipGraphMemsetNodeGetParams(node, ctypes.byref(shown)) == 0
    assert {n: getattr(shown, n) for n, _ in shown._fields_} == {n: getattr(fill, n) for n, _ in fill._fields_}
    expected = read(hip, x, 12, np.uint16)
    executable = graph.instantiate()
    assert call.hipGraphLaunch(executable, None) == 0
    expected[1:4] = expected[6:9] = 0x1234
    np.testing.assert_array_equal(read(hip, x, 12, np.uint16), expected)
    fill.value, fill.height = 5, 1
    assert call.hipDrvGraphExecMemsetNodeSetParams(executable, node, ctypes.byref(fill), None) == 0
    assert call.hipGraphLaunch(executable, None) == 0
    expected[1:4] = 5
    np.testing.assert_array_equal(read(hip, x, 12, np.uint16), expected)
    fill.value = 6
    assert call.hipGraphExecMemsetNodeSetParams(executable, node, ctypes.byref(fill)) == 0
    assert call.hipGraphLaunch(executable, None) == 0
    expected[1:4] = 6
    np.testing.assert_array_equal(read(hip, x, 12, np.uint16), expected)
    assert call.hipGraphMemsetNodeGetParams(node, ctypes.byref(shown)) == 0
    assert (shown.value, shown.height) == (0xABCD1234, 2)  # the graph is as before
    assert call.hipGraphMemsetNodeSetParams(node, ctypes.byref(fill)) == 0
    assert call.hipGraphMemsetNodeGetParams(node, ctypes.byref(shown)) == 0
    assert (shown.value, shown.height) == (6, 1)
    assert call.hipGraphMemsetNodeGetParams(node, None) == 1
    fill.height, fill.pitch = 2, 5
    assert call.hipGraphMemsetNodeSetParams(node, ctypes.byref(fill)) == 1  # rows of 6 bytes, 5 apart
    fill.pitch = 6
    assert call.hipGraphMemsetNodeSetParams(node, ctypes.byref(fill)) == 0


def test_a_host_nodes_parameters_are_read_and_set(call, graph):
    seen = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
    address = ctypes.cast(function, ctypes.c_void_p).value
    node = graph.add("HostNode", [], ctypes.byref(s.HostNodeParams(address, 5)))
    shown = s.HostNodeParams()
    assert call.hipGraphHostNodeGetParams(node, ctypes.byref(shown)) == 0
    assert (shown.fn, shown.userData) == (address, 5)
    assert call.hipGraphHostNodeGetParams(node, None) == 1
    assert call.hipGraphHostNodeSetParams(node, ctypes.byref(s.HostNodeParams(address, 6))) == 0
    assert call.hipGraphLaunch(graph.instantiate(), None) == 0
    assert seen == [6]


def test_parameters_of_memory_that_a_graph_allocates(call, graph):
    p = s.MemAllocNodeParams(bytesize=4096)
    p.poolProps.allocType = p.poolProps.location.type = 1
    node = graph.add("MemAllocNode", [], ctypes.byref(p))
    freed = graph.add_of("hipDrvGraphAddMemFreeNode", [node], p.dptr)
    shown, address = s.MemAllocNodeParams(), ctypes.c_uint64()
    assert call.hipGraphMemAllocNodeGetParams(node, ctypes.byref(shown)) == 0
    assert bytes(shown) == bytes(p)
    assert call.hipGraphMemFreeNodeGetParams(freed, ctypes.byref(address)) == 0
    assert address.value == p.dptr
    assert call.hipGraphMemAllocNodeGetParams(node, None) == call.hipGraphMemFreeNodeGetParams(freed, None) == 1
    given = s.GraphNodeParams(type=10)
    given.alloc = p
    executable = graph.instantiate()
    for one, type_ in ((node, 10), (freed, 11)):
        given.type = type_
        assert call.hipGraphNodeSetParams(one, ctypes.byref(given)) == 801
        assert call.hipGraphExecNodeSetParams(executable, one, ctypes.byref(given)) == 801
        assert "keep their parameters" in str(runtime.instance().take_exception())
        assert call.hipGraphDestroyNode(one) == 801
    devices = call.number("hipGetDeviceCount")
    for change, code in (
        ({"bytesize": 0}, 1), ({"allocType": 0}, 1), ({"allocType": 2}, 1), ({"type": 0}, 1), ({"id": -1}, 1),
        ({"id": devices}, 1), ({"id": devices - 1}, 0),
    ):  # fmt: skip
        other = s.MemAllocNodeParams(bytesize=64, dptr=9)
        other.poolProps.allocType = other.poolProps.location.type = 1
        for name, value in change.items():
            holder = {"bytesize": other, "allocType": other.poolProps}.get(name, other.poolProps.location)
            setattr(holder, name, value)
        got = call.hipGraphAddMemAllocNode(ctypes.byref(address), graph.graph, None, 0, ctypes.byref(other))
        assert got == code, change
        assert bool(other.dptr) == (not code)
    assert call.hipGraphExecDestroy(executable) == 0


def test_nodes_of_every_type_by_one_call(hip, call, graph, vectors, kernels):
    """hipGraphAddNode, hipGraphNodeSetParams and hipGraphExecNodeSetParams: what the type says stands in the union."""
    x, y = vectors
    seen, event = [], call.address("hipEventCreate")
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: seen.append(data or 0))
    address = ctypes.cast(function, ctypes.c_void_p).value
    child = Builder(call, kernels)
    child.add("HostNode", [], ctypes.byref(s.HostNodeParams(address, 1)))

    def made(type_, **fields):
        p = s.GraphNodeParams(type=type_)
        for name, value in fields.items():
            setattr(p, name, value)
        return p

    copy = Memcpy3D(kind=ON_DEVICE)
    copy.srcPtr.ptr, copy.srcPtr.pitch, copy.dstPtr.ptr, copy.dstPtr.pitch = x, 40, y, 40
    copy.extent.width, copy.extent.height, copy.extent.depth = 40, 1, 1
    allocation = s.MemAllocNodeParams(bytesize=64)
    allocation.poolProps.allocType = allocation.poolProps.location.type = 1
    each = {
        0: made(0, kernel=graph.kernel_params("saxpy", *saxpy_arguments(1000, 2.0, x, y), grid=4)._obj),
        1: made(1, memcpy=s.MemcpyNodeParams(copyParams=copy)),
        2: made(2, memset=s.MemsetParams(dst=x, elementSize=4, height=1, value=0, width=5)),
        3: made(3, host=s.HostNodeParams(address, 2)),
        4: made(4, graph=child.graph),
        5: made(5),
        6: made(6, event=event),
        7: made(7, event=event),
        10: made(10, alloc=allocation),
    }
    nodes = {}
    for type_, p in each.items():
        after = [nodes[max(nodes)]] if nodes else []
        nodes[type_] = graph.add("Node", after, ctypes.byref(p))
        assert call.number("hipGraphNodeGetType", nodes[type_], first=False) == type_
    pointer = each[10].alloc.dptr
    assert pointer
    nodes[11] = graph.add("Node", [nodes[10]], ctypes.byref(made(11, dptr=pointer)))
    assert call.number("hipGraphNodeGetType", nodes[11], first=False) == 11
    executable = graph.instantiate()
    assert call.hipGraphLaunch(executable, None) == 0
    index = np.arange(1000, dtype=np.float32)
    expected = 1 + 2 * index
    expected[:10] = index[:10]
    np.testing.assert_array_equal(read(hip, y), expected)
    assert not read(hip, x, 5).any()
    assert seen == [2, 1]
    # other parameters: in the executable alone, then in the graph
    each[3].host.userData = 9
    assert call.hipGraphExecNodeSetParams(executable, nodes[3], ctypes.byref(each[3])) == 0
    assert call.hipGraphLaunch(executable, None) == 0
    assert seen == [2, 1, 9, 1]
    shown = s.HostNodeParams()
    assert call.hipGraphHostNodeGetParams(nodes[3], ctypes.byref(shown)) == 0
    assert shown.userData == 2
    assert call.hipGraphNodeSetParams(nodes[3], ctypes.byref(each[3])) == 0
    assert call.hipGraphHostNodeGetParams(nodes[3], ctypes.byref(shown)) == 0
    assert shown.userData == 9
    for set_ in (call.hipGraphNodeSetParams, lambda *rest: call.hipGraphExecNodeSetParams(executable, *rest)):
        assert set_(nodes[3], ctypes.byref(each[2])) == 1  # it keeps its type
        assert set_(nodes[3], None) == 1
    value = (ctypes.c_int * 16)(4)
    assert call.hipGraphKernelNodeSetAttribute(nodes[0], 8, value) == 0
    each[0].kernel.gridDim.x = 2
    assert call.hipGraphNodeSetParams(nodes[0], ctypes.byref(each[0])) == 0
    value[0] = 0
    assert call.hipGraphKernelNodeGetAttribute(nodes[0], 8, value) == 0
    kernel = s.KernelNodeParams()
    assert call.hipGraphKernelNodeGetParams(nodes[0], ctypes.byref(kernel)) == 0
    assert (value[0], kernel.gridDim.x) == (4, 2)  # attributes stay
    for type_ in (8, 9):
        assert (
            call.hipGraphAddNode(ctypes.byref(ctypes.c_uint64()), graph.graph, None, 0, ctypes.byref(made(type_)))
            == 801
        )
        assert "external semaphores" in str(runtime.instance().take_exception())
    assert call.hipGraphExecDestroy(executable) == call.hipGraphDestroy(child.graph) == call.hipEventDestroy(event) == 0


def test_what_an_executable_keeps(call, graph, vectors, kernels):
    """A child is not the graph that it stands in, a copy has two ends, and attributes have numbers."""
    x, y = vectors
    child = Builder(call, kernels)
    child.add("EmptyNode", [])
    node, copied = graph.add("ChildGraphNode", [], child.graph), graph.add("MemcpyNode1D", [], y, x, 40, ON_DEVICE)
    kernel = graph.saxpy([], 10, 1.0, x, y)
    executable = graph.instantiate()
    assert call.hipGraphExecChildGraphNodeSetParams(executable, node, graph.graph) == 999  # hipErrorUnknown
    assert call.hipGraphExecChildGraphNodeSetParams(executable, node, child.graph) == 0
    for set_ in (
        call.hipGraphMemcpyNodeSetParams1D,
        lambda *rest: call.hipGraphExecMemcpyNodeSetParams1D(executable, *rest),
    ):
        assert set_(copied, x, x, 40, ON_DEVICE) == 1
        assert set_(copied, x, y, 80, ON_DEVICE) == 0
        assert set_(node, x, y, 80, ON_DEVICE) == 1
    shown = Memcpy3D()
    assert call.hipGraphMemcpyNodeGetParams(copied, ctypes.byref(shown)) == 0
    assert (shown.dstPtr.ptr, shown.srcPtr.ptr, shown.extent.width) == (x, y, 80)
    value = (ctypes.c_int * 16)(7)
    assert call.hipGraphKernelNodeGetAttribute(kernel, 1, value) == 801
    assert call.hipGraphKernelNodeGetAttribute(kernel, 3, value) == 1
    assert call.hipGraphKernelNodeGetAttribute(kernel, 2, None) == 1
    assert value[0] == 7
    assert call.hipGraphKernelNodeGetAttribute(kernel, 2, value) == 0
    assert value[0] == 0
    event = call.address("hipEventCreate")
    place = ctypes.c_uint64()
    recorded, waiting = graph.add("EventRecordNode", [], event), graph.add("EventWaitNode", [], event)
    other = call.address("hipEventCreate")
    second = graph.instantiate()
    for kind, one in (("Record", recorded), ("Wait", waiting)):
        assert getattr(call, f"hipGraphExecEvent{kind}NodeSetEvent")(second, one, other) == 0
        get, set_ = (getattr(call, f"hipGraphEvent{kind}Node{what}Event") for what in ("Get", "Set"))
        assert get(one, ctypes.byref(place)) == 0
        assert place.value == event
        assert set_(one, other) == get(one, ctypes.byref(place)) == 0
        assert place.value == other
        assert get(one, None) == set_(one, None) == set_(kernel, other) == 1
    assert call.hipGraphDestroy(child.graph) == call.hipEventDestroy(event) == call.hipEventDestroy(other) == 0


def test_instantiations_and_their_flags(call, graph, vectors, kernels):
    """hipGraphInstantiateFlags: 1 frees, 2 uploads, 4 launches from the device, 8 takes priorities of nodes."""
    graph.saxpy([], 10, 1.0, *vectors)
    for flags, code in ((0, 0), (1, 0), (2, 1), (3, 1), (4, 1), (8, 0), (9, 1)):
        place = ctypes.c_uint64(9)
        assert call.hipGraphInstantiateWithFlags(ctypes.byref(place), graph.graph, flags) == code, flags
        if not code:
            assert call.number("hipGraphExecGetFlags", place.value, kind=ctypes.c_uint64, first=False) == flags
            assert call.hipGraphExecDestroy(place.value) == 0
    for flags, code, result in ((0, 0, 0), (1, 0, 0), (2, 0, 0), (8, 0, 0), (3, 1, 1), (16, 1, 1), (4, 801, 3)):
        place, p = ctypes.c_uint64(), s.InstantiateParams(errNode_out=9, flags=flags, result_out=7)
        assert call.hipGraphInstantiateWithParams(ctypes.byref(place), graph.graph, ctypes.byref(p)) == code, flags
        assert (p.errNode_out, p.result_out) == (None, result)
        if not code:
            assert call.number("hipGraphExecGetFlags", place.value, kind=ctypes.c_uint64, first=False) == flags
            assert call.hipGraphUpload(place.value, None) == 0
            assert call.hipGraphExecDestroy(place.value) == 0
            assert call.hipGraphUpload(place.value, None) == 1
    p = s.InstantiateParams(flags=2, uploadStream=0x1230)
    assert call.hipGraphInstantiateWithParams(ctypes.byref(place), graph.graph, ctypes.byref(p)) == 709  # no stream
    assert call.hipGraphInstantiateWithParams(ctypes.byref(place), graph.graph, None) == 1
    node, log = ctypes.c_uint64(7), ctypes.create_string_buffer(b"abc", 4)
    assert call.hipGraphInstantiate(ctypes.byref(place), graph.graph, ctypes.byref(node), log, 4) == 0
    assert (node.value, log.raw) == (0, b"\0bc\0")
    log.raw = b"abc\0"
    assert call.hipGraphInstantiate(ctypes.byref(place), graph.graph, None, log, 0) == 0
    assert log.raw == b"abc\0"


def test_lists_of_nodes_and_edges_that_do_not_fit(call, graph):
    """What does not fit is left out, and what is too many places for anybody is refused."""
    a, b, c = (graph.add("EmptyNode", []) for _ in range(3))
    places, count = (ctypes.c_uint64 * 3)(7, 7, 7), ctypes.c_size_t(2)
    assert call.hipGraphGetNodes(graph.graph, places, ctypes.byref(count)) == 0
    assert (list(places), count.value) == ([a, b, 7], 2)
    assert call.hipGraphGetNodes(graph.graph, places, None) == 1
    count.value = (1 << 20) + 1
    assert call.hipGraphGetNodes(graph.graph, places, ctypes.byref(count)) == 1
    count.value = 2
    one, two = (ctypes.c_uint64 * 3)(a, b, a), (ctypes.c_uint64 * 3)(c, c, b)
    for after, code in (((ctypes.c_uint64 * 2)(c, c), 1), ((ctypes.c_uint64 * 2)(c, b), 0)):
        assert call.hipGraphAddDependencies(graph.graph, (ctypes.c_uint64 * 2)(a, a), after, 2) == code
    assert call.hipGraphAddDependencies(graph.graph, (ctypes.c_uint64 * 1)(b), (ctypes.c_uint64 * 1)(c), 1) == 0
    before, after, count = (ctypes.c_uint64 * 2)(), (ctypes.c_uint64 * 2)(), ctypes.c_size_t(2)
    assert call.hipGraphGetEdges(graph.graph, before, after, ctypes.byref(count)) == 0
    assert (list(before), list(after), count.value) == ([a, a], [c, b], 2)
    for ends in ((before, None), (None, after)):
        assert call.hipGraphGetEdges(graph.graph, *ends, ctypes.byref(count)) == 1
    assert call.hipGraphGetEdges(graph.graph, before, after, None) == 1
    # both of a call's pairs, or none
    assert call.hipGraphRemoveDependencies(graph.graph, one, two, 3) == 0
    assert handles(call, "hipGraphNodeGetDependencies", c) == handles(call, "hipGraphNodeGetDependencies", b) == []
    assert call.hipGraphRemoveDependencies(graph.graph, one, two, 1) == 1


def test_clones_find_the_nodes_of_their_original_alone(call, graph):
    a, b = graph.add("EmptyNode", []), graph.add("EmptyNode", [])
    clone = call.address("hipGraphClone", graph.graph)
    copies, found = handles(call, "hipGraphGetNodes", clone), ctypes.c_uint64()
    for node, copy in ((a, copies[0]), (b, copies[1])):
        assert call.hipGraphNodeFindInClone(ctypes.byref(found), node, clone) == 0
        assert found.value == copy
    assert call.hipGraphNodeFindInClone(ctypes.byref(found), a, graph.graph) == 1
    assert call.hipGraphDestroyNode(copies[0]) == 0
    assert call.hipGraphNodeFindInClone(ctypes.byref(found), a, clone) == 1  # it is gone there
    assert call.hipGraphDestroy(clone) == 0


def test_marks_of_the_most_memory_are_set_back_to_what_is_in_use(call, kernels):
    """hipGraphMemAttributeType: used, the most used, reserved, the most reserved; two can be zeroed."""
    value, zero = ctypes.c_uint64(), ctypes.c_uint64(0)
    for number in (1, 3):
        assert call.hipDeviceSetGraphMemAttribute(0, number, ctypes.byref(zero)) == 0

    def marks():
        found = []
        for number in range(4):
            assert call.hipDeviceGetGraphMemAttribute(0, number, ctypes.byref(value)) == 0
            found.append(value.value)
        return found

    graph, p = Builder(call, kernels), s.MemAllocNodeParams(bytesize=4096)
    p.poolProps.allocType = p.poolProps.location.type = 1
    graph.add("MemAllocNode", [], ctypes.byref(p))
    first = marks()
    executable = graph.instantiate()
    assert first == [0, 0, 4096, 4096]
    assert call.hipGraphLaunch(executable, None) == 0
    assert marks() == [4096] * 4
    assert call.hipFree(p.dptr) == call.hipGraphExecDestroy(executable) == call.hipGraphDestroy(graph.graph) == 0
    assert marks() == [0, 4096, 0, 4096]
    for number, code in ((0, 1), (2, 1), (4, 1), (-1, 1)):
        assert call.hipDeviceSetGraphMemAttribute(0, number, ctypes.byref(zero)) == code
    for number in (-1, 4):
        assert call.hipDeviceGetGraphMemAttribute(0, number, ctypes.byref(value)) == 1
    value.value = 5
    assert call.hipDeviceSetGraphMemAttribute(0, 1, ctypes.byref(value)) == 1  # zero alone
    assert call.hipDeviceSetGraphMemAttribute(0, 1, ctypes.byref(zero)) == 0
    assert marks() == [0, 0, 0, 4096]
    assert call.hipDeviceSetGraphMemAttribute(0, 3, ctypes.byref(zero)) == 0
    assert marks() == [0] * 4
    assert call.hipDeviceGraphMemTrim(0) == 0
    assert call.hipDeviceGraphMemTrim(99) == 101


def test_references_of_user_objects_are_counted(call, graph):
    gone = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(gone.append)
    most = (1 << 31) - 1
    place = ctypes.c_uint64()
    for count, flags, code in ((most, 1, 0), (1 << 31, 1, 1), (0, 1, 1), (1, 2, 1), (1, 0, 1)):
        assert call.hipUserObjectCreate(ctypes.byref(place), 5, destroy, count, flags) == code
    assert (
        call.hipUserObjectCreate(None, 5, destroy, 1, 1)
        == call.hipUserObjectCreate(ctypes.byref(place), 5, None, 1, 1)
        == 1
    )
    assert call.hipUserObjectRelease(place.value, most) == 0
    assert gone == [5]
    assert call.hipUserObjectRetain(place.value, 1) == call.hipUserObjectRelease(place.value, 1) == 0  # it is gone
    one = call.address("hipUserObjectCreate", 6, destroy, 2, 1)
    for name in ("hipUserObjectRetain", "hipUserObjectRelease"):
        for handle, count in ((None, 1), (one, 0), (one, 1 << 31)):
            assert getattr(call, name)(handle, count) == 1, (name, count)
    assert call.hipUserObjectRelease(one, 3) == 0  # more than there are: none is taken
    assert gone == [5]
    assert call.hipGraphRetainUserObject(graph.graph, one, 2, 0) == 0  # two of the graph's own: four
    assert call.hipUserObjectRelease(one, 2) == 0
    assert gone == [5]
    for handle, count, flags in ((None, 1, 0), (one, 0, 0), (one, 1 << 31, 0), (one, 1, 2)):
        assert call.hipGraphRetainUserObject(graph.graph, handle, count, flags) == 1
        if flags < 2:
            assert call.hipGraphReleaseUserObject(graph.graph, handle, count) == 1
    assert call.hipGraphReleaseUserObject(graph.graph, one, 1) == 0
    assert gone == [5]
    assert call.hipGraphReleaseUserObject(graph.graph, one, 1) == 0
    assert gone == [5, 6]
    assert (
        call.hipGraphReleaseUserObject(graph.graph, one, 1)
        == call.hipGraphRetainUserObject(graph.graph, one, 1, 0)
        == 0
    )


def test_a_clone_has_the_user_objects_too(call, graph):
    gone = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(gone.append)
    one = call.address("hipUserObjectCreate", 6, destroy, 1, 1)
    assert call.hipGraphRetainUserObject(graph.graph, one, 1, 1) == 0
    clone = call.address("hipGraphClone", graph.graph)
    assert call.hipGraphReleaseUserObject(graph.graph, one, 5) == 0  # at most what the graph has
    assert gone == []
    assert call.hipGraphDestroy(clone) == 0
    assert gone == [6]


def test_operations_on_memory_are_read_and_set(hip, call, graph, vectors):
    x, _ = vectors
    first, second = ((s.StreamMemoryOperation * 1)((2, x, value, 0)) for value in (5, 6))
    p = s.BatchMemOpNodeParams(0x40, 1, ctypes.addressof(first), 0)
    node = graph.add("BatchMemOpNode", [], ctypes.byref(p))
    executable = graph.instantiate()
    p.paramArray = ctypes.addressof(second)
    assert call.hipGraphExecBatchMemOpNodeSetParams(executable, node, ctypes.byref(p)) == 0
    assert call.hipGraphLaunch(executable, None) == 0
    assert read(hip, x, 1, np.uint32)[0] == 6
    shown = s.BatchMemOpNodeParams(1, 2, 3, 4)
    assert call.hipGraphBatchMemOpNodeGetParams(node, ctypes.byref(shown)) == 0
    assert (shown.ctx, shown.count, shown.flags) == (0x40, 1, 0)
    assert bytes((s.StreamMemoryOperation * 1).from_address(shown.paramArray)) == bytes(first)
    assert call.hipGraphBatchMemOpNodeSetParams(node, ctypes.byref(p)) == 0
    assert call.hipGraphBatchMemOpNodeGetParams(node, ctypes.byref(shown)) == 0
    assert bytes((s.StreamMemoryOperation * 1).from_address(shown.paramArray)) == bytes(second)
    assert call.hipGraphBatchMemOpNodeGetParams(node, None) == 1
    for change in ({"count": 0}, {"paramArray": None}, {"flags": 1}):
        bad = s.BatchMemOpNodeParams(None, 1, ctypes.addressof(first), 0)
        for name, value in change.items():
            setattr(bad, name, value)
        assert call.hipGraphBatchMemOpNodeSetParams(node, ctypes.byref(bad)) == 1, change


def test_each_nodes_line_in_the_picture(call, graph, vectors, kernels, tmp_path):
    """With parameters: the whole text, but for the addresses, which are the ones of this run."""
    x, y = vectors
    host = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)
    function, event = ctypes.cast(host, ctypes.c_void_p).value, call.address("hipEventCreate")
    child = Builder(call, kernels)
    inner = child.add("EmptyNode", [])
    fill = s.MemsetParams(dst=x, elementSize=2, height=3, pitch=64, value=9, width=4)
    memory = s.MemAllocNodeParams(bytesize=4096)
    memory.poolProps.allocType = memory.poolProps.location.type = 1
    operation = (s.StreamMemoryOperation * 1)((2, x, 5, 0))
    batch = s.BatchMemOpNodeParams(None, 1, ctypes.addressof(operation), 0)
    kernel = graph.kernel_params("saxpy", *saxpy_arguments(10, 1.0, x, y), grid=3, block=64, lds=8)
    nodes = [graph.add("KernelNode", [], kernel)]
    for name, *more in (
        ("MemcpyNode1D", y, x, 40, ON_DEVICE), ("MemsetNode", ctypes.byref(fill)),
        ("HostNode", ctypes.byref(s.HostNodeParams(function, 0x77))), ("ChildGraphNode", child.graph), ("EmptyNode",),
        ("EventWaitNode", event), ("EventRecordNode", event), ("MemAllocNode", ctypes.byref(memory)),
    ):  # fmt: skip
        nodes.append(graph.add(name, nodes[-1:], *more))
    nodes.append(graph.add("MemFreeNode", nodes[-1:], memory.dptr))
    nodes.append(graph.add("BatchMemOpNode", nodes[-1:], ctypes.byref(batch)))
    embedded = ctypes.c_uint64()
    assert call.hipGraphChildGraphNodeGetGraph(nodes[4], ctypes.byref(embedded)) == 0
    (inside,) = handles(call, "hipGraphGetNodes", embedded.value)
    assert inside != inner
    words = [
        "0: kernel\\nsaxpy\\ngrid (3, 1, 1)\\nblock (64, 1, 1)\\n8 bytes of dynamic LDS",
        f"1: memcpy\\nfrom 0x{x:x} to 0x{y:x}, kind 3\\n40 bytes, 1 rows, 1 slices",
        f"2: memset\\nat 0x{x:x}: 4 x 3 x 1 elements of 2 bytes\\nvalue 9, pitch 64",
        f"3: host function\\n0x{function:x}(0x77)",
        "4: child graph", "5: empty", f"6: event wait\\nevent 0x{event:x}", f"7: event record\\nevent 0x{event:x}",
        f"8: allocation\\n4096 bytes at 0x{memory.dptr:x}", f"9: free\\n0x{memory.dptr:x}", "10: memory operations",
    ]  # fmt: skip

    def text(verbose):
        path = tmp_path / "graph.dot"
        assert call.hipGraphDebugDotPrint(graph.graph, str(path).encode(), verbose) == 0
        return path.read_text()

    def expected(words):
        head = 'label="graph"; graph[style="dashed"];'
        rows = zip(nodes, ["octagon", *["rectangle"] * 10], words, strict=True)
        return "\n".join(
            [
                "digraph dot {", f"subgraph cluster_{graph.graph:x} {{", head,
                *(f'"n{n:x}" [shape="{shape}", label="{one}"];' for n, shape, one in rows),
                *(f'"n{before:x}" -> "n{after:x}";' for before, after in itertools.pairwise(nodes)), "}",
                f"subgraph cluster_{embedded.value:x} {{", head,
                f'"n{inside:x}" [shape="rectangle", label="0: empty"];',
                "}", "}", "",
            ]
        )  # fmt: skip

    assert text(1) == expected(words)
    assert text(0) == expected(["0: kernel\\nsaxpy", *(one.split("\\n")[0] for one in words[1:])])
    assert call.hipGraphDestroy(child.graph) == call.hipEventDestroy(event) == 0


def test_what_an_update_says_of_each_difference(call, graph, vectors, kernels):
    """hipGraphExecUpdateResult: topology 2, type 3, function's device 7, parameters 5, not supported 6."""
    x, y = vectors

    def difference(before, after):
        """The result of an update of one graph by another, and whether the node that it names is the other's last."""
        one, other = Builder(call, kernels), Builder(call, kernels)
        before(one)
        last = after(other)
        executable = one.instantiate()
        node, result = ctypes.c_uint64(7), ctypes.c_int(7)
        code = call.hipGraphExecUpdate(executable, other.graph, ctypes.byref(node), ctypes.byref(result))
        assert code == (910 if result.value else 0)
        for made in (one, other):
            assert call.hipGraphDestroy(made.graph) == 0
        assert call.hipGraphExecDestroy(executable) == 0
        return result.value, node.value == last, node.value == 0

    def memory(builder):
        p = s.MemAllocNodeParams(bytesize=64)
        p.poolProps.allocType = p.poolProps.location.type = 1
        return builder.add("MemAllocNode", [], ctypes.byref(p)), p.dptr

    def freed(builder):
        node, pointer = memory(builder)
        return builder.add("MemFreeNode", [node], pointer)

    def child_of(*copies):
        def add(builder):
            inner = Builder(call, kernels)
            for name, *more in copies:
                inner.add(name, [], *more)
            return builder.add("ChildGraphNode", [], inner.graph)

        return add

    def pair(joined):
        def add(builder):
            first = builder.add("EmptyNode", [])
            return builder.add("EmptyNode", [first] if joined else [])

        return add

    empty = lambda builder: builder.add("EmptyNode", [])  # noqa: E731
    copy = lambda kind, to=x: lambda builder: builder.add("MemcpyNode1D", [], to, y, 40, kind)  # noqa: E731
    assert difference(pair(True), pair(True)) == (0, False, True)
    assert difference(pair(True), pair(False)) == (2, True, False)
    assert difference(pair(True), empty) == (2, False, True)
    assert difference(empty, copy(ON_DEVICE)) == (3, True, False)
    assert difference(copy(ON_DEVICE), copy(ON_DEVICE, x + 40)) == (0, False, True)
    assert difference(copy(ON_DEVICE), copy(4)) == (5, True, False)
    assert difference(lambda one: memory(one)[0], lambda one: memory(one)[0]) == (6, True, False)
    assert difference(freed, freed) == (6, False, False)
    assert difference(child_of(("EmptyNode",)), child_of(("EmptyNode",))) == (0, False, True)
    assert difference(child_of(("EmptyNode",)), child_of(("EmptyNode",), ("EmptyNode",))) == (2, True, False)
    other = ("MemcpyNode1D", x, y, 40, ON_DEVICE)
    assert difference(child_of(("EmptyNode",)), child_of(other)) == (3, True, False)


def test_a_reset_takes_the_graphs_of_its_device_alone(call):
    graphs, devices = runtime.instance().graphs, runtime.instance().devices
    made = []
    for device in (1, 0):
        assert call.hipSetDevice(device) == 0
        graph = call.address("hipGraphCreate", 0)
        child = call.address("hipGraphCreate", 0)
        node = call.address("hipGraphAddChildGraphNode", graph, None, 0, child)
        made.append((graph, child, node, call.address("hipGraphInstantiate", graph, None, None, 0)))
    graphs.reset(devices[1])
    (graph, child, node, executable), (kept, own, other, runs) = made
    kind = ctypes.byref(ctypes.c_int())
    assert call.hipGraphNodeGetType(node, kind) == call.hipGraphLaunch(executable, None) == 1
    assert call.hipGraphDestroy(graph) == call.hipGraphDestroy(child) == 401
    assert call.hipGraphNodeGetType(other, kind) == call.hipGraphLaunch(runs, None) == 0
    assert call.hipGraphDestroy(kept) == call.hipGraphDestroy(own) == call.hipGraphExecDestroy(runs) == 0


def test_a_kernels_node_keeps_its_device(hip, call, graph, vectors):
    """hipGraphExecUpdateErrorUnsupportedFunctionChange is 7; a node's own parameters are refused in the same way."""
    from tests.hip.conftest import code_object

    node = graph.saxpy([], 10, 1.0, *vectors)
    executable = graph.instantiate()
    assert call.hipSetDevice(1) == 0
    module = ok(hip.hipModuleLoadData(code_object("gfx1100").elf))
    other = Builder(call, lambda name: ok(hip.hipModuleGetFunction(module, name.encode())))
    theirs = other.saxpy([], 10, 1.0, *vectors)
    found, result = ctypes.c_uint64(), ctypes.c_int()
    places = ctypes.byref(found), ctypes.byref(result)
    assert call.hipGraphExecUpdate(executable, other.graph, *places) == 910
    assert (found.value, result.value) == (theirs, 7)
    p = other.kernel_params("saxpy", *saxpy_arguments(10, 1.0, *vectors))
    assert call.hipGraphExecKernelNodeSetParams(executable, node, p) == 1
    assert call.hipGraphDestroy(other.graph) == call.hipGraphExecDestroy(executable) == call.hipSetDevice(0) == 0
    ok(hip.hipModuleUnload(module))
