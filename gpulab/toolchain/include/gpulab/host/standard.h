// What a whole program has of the C and C++ libraries once hip/hip_runtime.h is included, and how their names work in
// device code: a host function and a device function of one name are overloads, of which each side sees its own.
//
// The list is that of ROCm's compiler and headers: its wrapper around every HIP source reads <algorithm> and <complex>, and
// the C++ library beside it reads strings and their streams for the latter. <complex> comes last (library/complex), for its
// functions serve kernels, too.
#pragma once
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#if __cplusplus > 199711L
#include <thread>  // hip/hip_runtime.h includes it
#endif
#include <tuple>
