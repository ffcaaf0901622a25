// Breadth-first search over a CSR graph (level-synchronous, one thread per vertex, and a queue version)
#include "hip/hip_runtime.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <vector>

#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(hipError_t code, const char *file, int line, bool abort=true)
{
   if (code != hipSuccess)
   {
      fprintf(stderr,"GPUassert: %s %s %d\n", hipGetErrorString(code), file, line);
      if (abort) exit(code);
   }
}

struct Node { int start; int degree; };

__global__ void Kernel1(const Node* nodes, const int* edges, bool* mask, bool* updating, bool *visited, int* cost, int n)
{
    int tid = blockIdx.x*blockDim.x + threadIdx.x;
    if( tid<n && mask[tid])
    {
        mask[tid]=false;
        for(int i=nodes[tid].start; i<(nodes[tid].degree + nodes[tid].start); i++)
        {
            int id = edges[i];
            if(!visited[id])
            {
                cost[id]=cost[tid]+1;
                updating[id]=true;
            }
        }
    }
}

__global__ void Kernel2(bool* mask, bool *updating, bool* visited, bool *over, int n)
{
    int tid = blockIdx.x*blockDim.x + threadIdx.x;
    if( tid<n && updating[tid])
    {
        mask[tid]=true;
        visited[tid]=true;
        *over=true;
        updating[tid]=false;
    }
}

__global__ void queue_kernel(const Node* nodes, const int* edges, const int* in, int in_count, int* out, int* out_count,
                             int* cost, int level)
{
    __shared__ int block_queue[1024];
    __shared__ int block_count, block_base;
    if (threadIdx.x == 0) block_count = 0;
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < in_count) {
        Node v = nodes[in[t]];
        for (int e = v.start; e < v.start + v.degree; ++e) {
            int w = edges[e];
            if (atomicCAS(&cost[w], -1, level + 1) == -1) {
                int slot = atomicAdd(&block_count, 1);
                if (slot < 1024) block_queue[slot] = w;
                else out[atomicAdd(out_count, 1)] = w;
            }
        }
    }
    __syncthreads();
    int count = min(block_count, 1024);
    if (threadIdx.x == 0) block_base = atomicAdd(out_count, count);
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[block_base + i] = block_queue[i];
}

int main(int argc, char** argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 6000;
    int avg = argc > 2 ? atoi(argv[2]) : 6;
    unsigned seed = 7;
    auto rnd = [&seed]() { seed = seed * 1103515245u + 12345u; return (seed >> 8) & 0xffffff; };

    std::vector<Node> h_nodes(n);
    std::vector<int> h_edges;
    for (int i = 0; i < n; i++) {
        int deg = rnd() % (2*avg - 1) + (i % 97 == 0 ? 40 : 0);
        h_nodes[i].start = (int)h_edges.size();
        h_nodes[i].degree = deg;
        for (int j = 0; j < deg; j++)
            h_edges.push_back(j & 1 ? (i + (int)(rnd() % 50)) % n : (int)(rnd() % n));
    }
    int source = 0;
    h_nodes[source].degree = h_nodes[1].start;   // keep all of its edges
    printf("Graph: %d nodes, %zu edges\n", n, h_edges.size());

    // host
    std::vector<int> ref(n, -1);
    std::queue<int> q;
    ref[source] = 0; q.push(source);
    while (!q.empty()) {
        int v = q.front(); q.pop();
        for (int e = h_nodes[v].start; e < h_nodes[v].start + h_nodes[v].degree; e++)
            if (ref[h_edges[e]] < 0) { ref[h_edges[e]] = ref[v] + 1; q.push(h_edges[e]); }
    }

    Node* d_nodes; int *d_edges, *d_cost; bool *d_mask, *d_updating, *d_visited, *d_over;
    gpuErrchk( hipMalloc(&d_nodes, n*sizeof(Node)) );
    gpuErrchk( hipMalloc(&d_edges, h_edges.size()*sizeof(int)) );
    gpuErrchk( hipMalloc(&d_cost, n*sizeof(int)) );
    gpuErrchk( hipMalloc(&d_mask, n) );
    gpuErrchk( hipMalloc(&d_updating, n) );
    gpuErrchk( hipMalloc(&d_visited, n) );
    gpuErrchk( hipMalloc(&d_over, sizeof(bool)) );
    gpuErrchk( hipMemcpy(d_nodes, h_nodes.data(), n*sizeof(Node), hipMemcpyHostToDevice) );
    gpuErrchk( hipMemcpy(d_edges, h_edges.data(), h_edges.size()*sizeof(int), hipMemcpyHostToDevice) );
    gpuErrchk( hipMemset(d_mask, 0, n) );
    gpuErrchk( hipMemset(d_updating, 0, n) );
    gpuErrchk( hipMemset(d_visited, 0, n) );
    gpuErrchk( hipMemset(d_cost, 0xff, n*sizeof(int)) );
    bool yes = true; int zero = 0;
    gpuErrchk( hipMemcpy(d_mask + source, &yes, 1, hipMemcpyHostToDevice) );
    gpuErrchk( hipMemcpy(d_visited + source, &yes, 1, hipMemcpyHostToDevice) );
    gpuErrchk( hipMemcpy(d_cost + source, &zero, sizeof(int), hipMemcpyHostToDevice) );

    int threads = 256, blocks = (n + threads - 1) / threads, k = 0;
    bool stop;
    do {
        stop = false;
        gpuErrchk( hipMemcpy(d_over, &stop, sizeof(bool), hipMemcpyHostToDevice) );
        Kernel1<<< blocks, threads, 0 >>>(d_nodes, d_edges, d_mask, d_updating, d_visited, d_cost, n);
        Kernel2<<< blocks, threads, 0 >>>(d_mask, d_updating, d_visited, d_over, n);
        gpuErrchk( hipPeekAtLastError() );
        gpuErrchk( hipMemcpy(&stop, d_over, sizeof(bool), hipMemcpyDeviceToHost) );
        k++;
    } while (stop);
    printf("Kernel executed %d times\n", k);
    std::vector<int> cost(n);
    gpuErrchk( hipMemcpy(cost.data(), d_cost, n*sizeof(int), hipMemcpyDeviceToHost) );
    int bad = 0;
    for (int i = 0; i < n; i++) if (cost[i] != ref[i]) { if (bad++ < 5) printf("node %d: %d, should be %d\n", i, cost[i], ref[i]); }

    // queue version
    int *d_q[2], *d_count;
    gpuErrchk( hipMalloc(&d_q[0], n*sizeof(int)) );
    gpuErrchk( hipMalloc(&d_q[1], n*sizeof(int)) );
    gpuErrchk( hipMalloc(&d_count, sizeof(int)) );
    gpuErrchk( hipMemset(d_cost, 0xff, n*sizeof(int)) );
    gpuErrchk( hipMemcpy(d_cost + source, &zero, sizeof(int), hipMemcpyHostToDevice) );
    gpuErrchk( hipMemcpy(d_q[0], &source, sizeof(int), hipMemcpyHostToDevice) );
    int count = 1, level = 0;
    while (count) {
        gpuErrchk( hipMemset(d_count, 0, sizeof(int)) );
        queue_kernel<<<(count + 127) / 128, 128>>>(d_nodes, d_edges, d_q[level & 1], count, d_q[!(level & 1)], d_count, d_cost, level);
        gpuErrchk( hipMemcpy(&count, d_count, sizeof(int), hipMemcpyDeviceToHost) );
        level++;
    }
    gpuErrchk( hipMemcpy(cost.data(), d_cost, n*sizeof(int), hipMemcpyDeviceToHost) );
    int bad2 = 0;
    for (int i = 0; i < n; i++) bad2 += cost[i] != ref[i];
    printf("levels %d, mismatches %d and %d\n", level, bad, bad2);
    hipFree(d_nodes); hipFree(d_edges); hipFree(d_cost); hipFree(d_mask); hipFree(d_updating); hipFree(d_visited); hipFree(d_over);
    hipFree(d_q[0]); hipFree(d_q[1]); hipFree(d_count);
    if (bad || bad2) { printf("Test FAILED\n"); return 1; }
    printf("Test PASSED\n");
    return 0;
}
