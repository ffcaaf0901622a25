// Executable graphs whose parameters change: of one node, of all of them, of a child graph; and nodes that are left out.
// OUT: as made: 3
// OUT: another factor in the executable: 30
// OUT: another graph of the same form: 7
// OUT: a graph of another form: result 2, error 910
// OUT: the node left out: 1
// OUT: the child twice, then changed: 9 17
// OUT: the variable: 42
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    hipError_t error = (call);                                                                   \
    if (error != hipSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));         \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

__device__ int limit[1];

template <typename T>
__global__ void scale(T* x, T factor) { *x *= factor; }
__global__ void add(int* x, int much) { *x += much; }

struct Kernel {
  void *arguments[2], *function;
  int *x, value;
  Kernel(void* f, int* pointer, int number) : function(f), x(pointer), value(number) {
    arguments[0] = &x, arguments[1] = &value;
  }
  hipKernelNodeParams parameters() {
    hipKernelNodeParams p = {};
    p.func = function, p.gridDim = p.blockDim = dim3(1), p.kernelParams = arguments;
    return p;
  }
};

hipGraphNode_t append(hipGraph_t graph, hipGraphNode_t* after, Kernel kernel) {
  hipGraphNode_t node;
  hipKernelNodeParams p = kernel.parameters();
  CHECK(hipGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &p));
  return node;
}

int launched(hipGraphExec_t executable, int* x) {
  int value = 1;
  CHECK(hipMemcpy(x, &value, sizeof value, hipMemcpyHostToDevice));
  CHECK(hipGraphLaunch(executable, nullptr));
  CHECK(hipMemcpy(&value, x, sizeof value, hipMemcpyDeviceToHost));
  return value;
}

int main() {
  int* x;
  CHECK(hipMalloc(&x, sizeof *x));
  void *times = reinterpret_cast<void*>(scale<int>), *plus = reinterpret_cast<void*>(add);

  hipGraph_t graph, other, parent;
  CHECK(hipGraphCreate(&graph, 0));
  hipGraphNode_t node = append(graph, nullptr, Kernel(times, x, 3));
  hipGraphExec_t executable;
  CHECK(hipGraphInstantiateWithFlags(&executable, graph, 0));
  std::printf("as made: %d\n", launched(executable, x));
  Kernel thirty(times, x, 30);
  hipKernelNodeParams p = thirty.parameters();
  CHECK(hipGraphExecKernelNodeSetParams(executable, node, &p));
  std::printf("another factor in the executable: %d\n", launched(executable, x));

  CHECK(hipGraphCreate(&other, 0));
  hipGraphNode_t first = append(other, nullptr, Kernel(plus, x, 6));
  hipGraphNode_t different;
  hipGraphExecUpdateResult result;
  CHECK(hipGraphExecUpdate(executable, other, &different, &result));
  std::printf("another graph of the same form: %d\n", launched(executable, x));
  append(other, &first, Kernel(plus, x, 1));
  const hipError_t error = hipGraphExecUpdate(executable, other, &different, &result);
  std::printf("a graph of another form: result %d, error %d\n", result, error);
  CHECK(hipGraphNodeSetEnabled(executable, node, 0));
  std::printf("the node left out: %d\n", launched(executable, x));

  // (x + 6 + 1) as a child, twice: 1 + 7 = 8, * 1, + 1 = 9
  CHECK(hipGraphCreate(&parent, 0));
  hipGraphNode_t child;
  CHECK(hipGraphAddChildGraphNode(&child, parent, nullptr, 0, other));
  append(parent, &child, Kernel(plus, x, 1));
  hipGraphExec_t nested;
  CHECK(hipGraphInstantiate(&nested, parent, nullptr, nullptr, 0));
  const int once = launched(nested, x);
  hipGraph_t eight;
  CHECK(hipGraphCreate(&eight, 0));
  hipGraphNode_t one = append(eight, nullptr, Kernel(plus, x, 7));
  append(eight, &one, Kernel(times, x, 2));
  CHECK(hipGraphExecChildGraphNodeSetParams(nested, child, eight));
  std::printf("the child twice, then changed: %d %d\n", once, launched(nested, x));

  hipGraph_t symbols;
  CHECK(hipGraphCreate(&symbols, 0));
  int source = 42, target = 0;
  hipGraphNode_t to, from;
  CHECK(hipGraphAddMemcpyNodeToSymbol(&to, symbols, nullptr, 0, HIP_SYMBOL(limit), &source, sizeof source, 0,
                                      hipMemcpyHostToDevice));
  CHECK(hipGraphAddMemcpyNodeFromSymbol(&from, symbols, &to, 1, &target, HIP_SYMBOL(limit), sizeof target, 0,
                                        hipMemcpyDeviceToHost));
  hipGraphExec_t copies;
  CHECK(hipGraphInstantiate(&copies, symbols, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(copies, nullptr));
  CHECK(hipDeviceSynchronize());
  std::printf("the variable: %d\n", target);
  for (hipGraphExec_t each : {executable, nested, copies}) CHECK(hipGraphExecDestroy(each));
  for (hipGraph_t each : {graph, other, parent, eight, symbols}) CHECK(hipGraphDestroy(each));
  CHECK(hipFree(x));
  return 0;
}
