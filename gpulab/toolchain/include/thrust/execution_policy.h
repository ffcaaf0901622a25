// thrust::host, thrust::device, thrust::seq; thrust::hip::par.on(stream) and par_nosync.
#pragma once
#include "detail/systems.h"
#include "detail/algorithms.h"  // last: they need what is above
