// The same functions by their older name.
#pragma once
#include <rocprofiler-sdk-roctx/roctx.h>
