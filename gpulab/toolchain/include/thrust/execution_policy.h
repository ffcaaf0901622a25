// thrust::host, thrust::device, thrust::seq; thrust::hip::par.on(stream) and par_nosync.
#pragma once
#include "detail/systems.h"
