// thrust::system_error, error_code, hip_category().
#pragma once
#include "../detail/error.h"
