#error "gpulab: thrust::tbb (the TBB system) is not there. Host algorithms run with thrust::host, on one thread."
