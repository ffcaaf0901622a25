// HIP has its surface types under this name too; here everything is in hip_runtime.h.
#pragma once
#include "hip_runtime.h"
