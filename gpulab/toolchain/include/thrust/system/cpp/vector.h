// The host's vectors.
#pragma once
#include "../../host_vector.h"
