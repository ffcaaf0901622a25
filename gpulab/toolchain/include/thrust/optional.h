#error "gpulab: thrust::optional is not there. \
Use std::optional on the host; in kernels, a thrust::pair of a flag and a value."
