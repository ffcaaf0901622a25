// thrust::hip::vector.
#pragma once
#include "../../device_vector.h"
#include "../../universal_vector.h"
