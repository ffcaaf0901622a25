// thrust::device_ptr.
#pragma once
#include "detail/pointer.h"
