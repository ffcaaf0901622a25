"""gpulab/heap.h: malloc, free, new and delete on the device; __managed__ variables."""

from __future__ import annotations

import numpy as np
import pytest

import gpulab
from gpulab import KernelTrap

SOURCE = """
#include <new>
struct node { int value; node* next; };
__device__ node* kept[4];
__global__ void lists(int n, int* out) {
    node* head = nullptr;
    for (int i = 0; i < n; i++) head = new node{i + (int)threadIdx.x, head};
    int sum = 0;
    for (node* at = head; at; at = at->next) sum = sum * 3 + at->value;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    while (head) { node* next = head->next; delete head; head = next; }
}
__global__ void aligned(int* out) {
    bool good = true;
    for (size_t bytes = 0; bytes < 300; bytes += 17) {
        char* p = (char*)malloc(bytes);
        good = good && p && ((size_t)p & 15) == 0;
        memset(p, threadIdx.x, bytes);
        for (size_t i = 0; i < bytes; i++) good = good && p[i] == (char)threadIdx.x;
        if (bytes & 1) free(p);
    }
    out[threadIdx.x] = good;
}
__global__ void full(unsigned* out) {
    unsigned count = 0;
    while (count < 100) {
        void* p = malloc(1000000);
        if (!p) break;
        count++;
    }
    out[0] = count; out[1] = malloc(9 << 20) == nullptr; out[2] = malloc(100) != nullptr;
}
__global__ void keep() { kept[threadIdx.x] = new node{(int)threadIdx.x, nullptr}; }
__global__ void give_back(int* out) { out[threadIdx.x] = kept[threadIdx.x]->value; delete kept[threadIdx.x]; }
struct shape { virtual __device__ int area() = 0; virtual __device__ ~shape() {} };
struct square : shape { int a; __device__ square(int a) : a(a) {} __device__ int area() override { return a * a; } };
__global__ void virtuals(int* out) {
    shape* s = new square(threadIdx.x);
    int* numbers = new int[3]{1, 2, 3};
    alignas(8) char room[sizeof(square)];
    square* in_place = new (room) square(2);
    out[threadIdx.x] = s->area() + numbers[2] + in_place->area();
    delete s;
    delete[] numbers;
}
__global__ void twice(int* x) { free(x); int* p = new int(1); delete p; delete p; }
__global__ void foreign(int* x) { free(x); }
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def module(request):
    with gpulab.using(f"virtual:{request.param}"):
        yield gpulab.compile(SOURCE)


def test_lists_of_every_thread(module: gpulab.Module) -> None:
    out = gpulab.zeros(512, "int32")
    for _ in range(3):  # freed blocks come back: three times as much would not fit otherwise
        module["lists"][4, 128](100, out)
    expected = np.zeros(128, "int64")
    for i in reversed(range(100)):
        expected = (expected * 3 + i + np.arange(128)) & 0xFFFFFFFF
    np.testing.assert_array_equal(out.to_host().astype("uint32"), np.tile(expected, 4).astype("uint32"))


@pytest.mark.full
def test_blocks_do_not_overlap_and_are_aligned(module: gpulab.Module) -> None:
    out = gpulab.zeros(64, "int32")
    module["aligned"][1, 64](out)
    assert out.to_host().all()


@pytest.mark.full
def test_a_full_heap_gives_null(module: gpulab.Module) -> None:
    with gpulab.using(f"virtual:{module.arch}"):
        fresh = gpulab.compile(SOURCE + "// with a heap of its own\n")
    out = gpulab.zeros(3, "uint32")
    fresh["full"][1, 1](out)
    assert out.to_host().tolist() == [8, 1, 0]  # 8 MiB in blocks of 1 MiB


def test_memory_lasts_from_launch_to_launch(module: gpulab.Module) -> None:
    out = gpulab.zeros(4, "int32")
    module["keep"][1, 4]()
    module["give_back"][1, 4](out)
    assert out.to_host().tolist() == [0, 1, 2, 3]


def test_virtual_functions_arrays_and_placement(module: gpulab.Module) -> None:
    out = gpulab.zeros(64, "int32")
    module["virtuals"][1, 64](out)
    np.testing.assert_array_equal(out.to_host(), np.arange(64) ** 2 + 7)


@pytest.mark.parametrize("kernel", ["twice", "foreign"])
def test_what_was_not_allocated_cannot_be_freed(module: gpulab.Module, kernel: str) -> None:
    argument = gpulab.Pointer(0, "int32") if kernel == "twice" else gpulab.zeros(4, "int32")
    with pytest.raises(KernelTrap):
        module[kernel][1, 1](argument)


@pytest.mark.full
def test_managed_variables(module: gpulab.Module) -> None:
    source = """
    __managed__ int counter = 3;
    __managed__ float table[4] = {1, 2, 3, 4};
    __global__ void next(int* out) {
        out[threadIdx.x] = counter + (int)table[threadIdx.x & 3];
        if (threadIdx.x == 0) counter = 10;
    }"""
    with gpulab.using(f"virtual:{module.arch}"):
        kernels = gpulab.compile(source)
        out = gpulab.zeros(8, "int32")
        kernels["next"][1, 8](out)
        assert out.to_host().tolist() == [4, 5, 6, 7] * 2
        kernels["next"][1, 8](out)
        assert out.to_host().tolist() == [11, 12, 13, 14] * 2
        assert kernels.variable("counter", "int32").to_host().tolist() == [10]
        kernels.variable("table", "float32").copy_from(np.full(4, 5, "float32"))
        kernels["next"][1, 8](out)
        assert out.to_host().tolist() == [15] * 8
