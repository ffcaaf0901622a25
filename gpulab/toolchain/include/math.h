// For device code; everything is in hip/hip_runtime.h.
#pragma once
#include "hip/hip_runtime.h"
