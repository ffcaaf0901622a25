#error "gpulab: thrust::cuda is the CUDA system. \
Here it is thrust::hip: include <thrust/system/hip/memory.h>, and write thrust::hip::par."
