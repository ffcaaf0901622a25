// A small library for tests of gpulab's port: sums and scales floats in device memory.
#pragma once
#include <cstddef>
#include <cstdint>

enum testStatus_t {
  TEST_SUCCESS = 0,
  TEST_NOT_INITIALIZED = 2,
  TEST_INVALID = 4,
  TEST_NO_MEMORY = 5,
  TEST_BAD_HANDLE = 6,
  TEST_NOT_SUPPORTED = 7,
  TEST_INTERNAL = 9
};
typedef struct testContext* testHandle_t;
struct testPair_t {
  double first;
  int second;
};

extern "C" {
testStatus_t testCreate(testHandle_t* handle);
testStatus_t testDestroy(testHandle_t handle);
// The sum of n floats on the device, into host memory.
testStatus_t testSum(testHandle_t handle, const float* values, int n, float* sum);
// What each argument was, as doubles.
testStatus_t testScale(testHandle_t handle, testPair_t pair, float a, double b, int64_t c, double* five);
const char* testName(int code);
testStatus_t testLater(testHandle_t handle, size_t size);
}
