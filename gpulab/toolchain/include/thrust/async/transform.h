#error "gpulab: thrust::async, futures and events are not there. \
Use thrust::hip::par_nosync.on(stream) and hipStreamSynchronize."
