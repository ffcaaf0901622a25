// thrust::universal_ptr: into managed memory, which the host and the device read alike.
#pragma once
#include "detail/pointer.h"
