// thrust::hip::par.
#pragma once
#include "../../execution_policy.h"
