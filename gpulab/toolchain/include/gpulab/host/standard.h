// What a whole program has of the C and C++ libraries once hip/hip_runtime.h is included, and how their names work in
// device code: a host function and a device function of one name are overloads, of which each side sees its own.
#pragma once
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
