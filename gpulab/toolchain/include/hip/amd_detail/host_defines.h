// HIP has its keywords under this name; here they are in gpulab/definitions.h.
#pragma once
#include "../../gpulab/definitions.h"
