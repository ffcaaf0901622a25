// inclusive_scan and exclusive_scan, which gpulab has with the groups.
#pragma once
#include "../hip_cooperative_groups.h"
