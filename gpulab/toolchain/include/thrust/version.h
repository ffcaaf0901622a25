// The version of Thrust whose documented interface these headers follow.
#pragma once
#define THRUST_VERSION 200805  // major * 100000 + minor * 100 + subminor
#define THRUST_MAJOR_VERSION (THRUST_VERSION / 100000)
#define THRUST_MINOR_VERSION (THRUST_VERSION / 100 % 1000)
#define THRUST_SUBMINOR_VERSION (THRUST_VERSION % 100)
#define THRUST_PATCH_NUMBER 0
