#error "gpulab: thrust::mr and per-device resources are not there. Give an algorithm thrust::hip::par(allocator)."
