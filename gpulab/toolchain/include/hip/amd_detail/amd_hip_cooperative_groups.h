// HIP has cooperative groups under this name; here they are in hip_cooperative_groups.h.
#pragma once
#include "../hip_cooperative_groups.h"
