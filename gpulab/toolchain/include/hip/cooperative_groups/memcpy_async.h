// memcpy_async, wait and wait_prior, which gpulab has with the groups.
#pragma once
#include "../hip_cooperative_groups.h"
