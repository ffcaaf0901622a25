#error "gpulab: thrust::omp (the OMP system) is not there. Host algorithms run with thrust::host, on one thread."
