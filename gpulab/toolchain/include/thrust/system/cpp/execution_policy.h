// thrust::cpp::par.
#pragma once
#include "../../execution_policy.h"
