// HIP has a part of its header hip_runtime.h under this name; here everything is in hip_runtime.h.
#pragma once
#include "../hip_runtime.h"
