// reduce and its operators, which gpulab has with the groups.
#pragma once
#include "../hip_cooperative_groups.h"
