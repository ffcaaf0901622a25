#error "gpulab: the memory resources of thrust::mr are not there. \
Give a vector an allocator class of your own, or an algorithm thrust::hip::par(allocator)."
