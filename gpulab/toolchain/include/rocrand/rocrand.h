// rocRAND's calls of the host. They are templates, so that a program has kernels only for those that it calls.
#pragma once
#include "../gpulab/random_host.h"

#define ROCRAND_DEFAULT_MAX_BLOCK_SIZE 256
#define ROCRAND_VERSION 400000

enum rocrand_status {
  ROCRAND_STATUS_SUCCESS = 0,
  ROCRAND_STATUS_VERSION_MISMATCH = 100,
  ROCRAND_STATUS_NOT_CREATED = 101,
  ROCRAND_STATUS_ALLOCATION_FAILED = 102,
  ROCRAND_STATUS_TYPE_ERROR = 103,
  ROCRAND_STATUS_OUT_OF_RANGE = 104,
  ROCRAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  ROCRAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  ROCRAND_STATUS_LAUNCH_FAILURE = 107,
  ROCRAND_STATUS_INTERNAL_ERROR = 108
};
enum rocrand_rng_type {
  ROCRAND_RNG_PSEUDO_DEFAULT = 400,
  ROCRAND_RNG_PSEUDO_XORWOW = 401,
  ROCRAND_RNG_PSEUDO_MRG32K3A = 402,
  ROCRAND_RNG_PSEUDO_MTGP32 = 403,
  ROCRAND_RNG_PSEUDO_PHILOX4_32_10 = 404,
  ROCRAND_RNG_PSEUDO_MRG31K3P = 405,
  ROCRAND_RNG_PSEUDO_LFSR113 = 406,
  ROCRAND_RNG_PSEUDO_MT19937 = 407,
  ROCRAND_RNG_QUASI_DEFAULT = 500,
  ROCRAND_RNG_QUASI_SOBOL32 = 501
};
enum rocrand_ordering {
  ROCRAND_ORDERING_PSEUDO_BEST = 100,
  ROCRAND_ORDERING_PSEUDO_DEFAULT = 101,
  ROCRAND_ORDERING_PSEUDO_SEEDED = 102,
  ROCRAND_ORDERING_PSEUDO_LEGACY = 103,
  ROCRAND_ORDERING_PSEUDO_DYNAMIC = 104,
  ROCRAND_ORDERING_QUASI_DEFAULT = 201
};

#ifdef __GPULAB_PROGRAM__
typedef __gpulab_random::generator* rocrand_generator;
namespace __gpulab_random {
inline int kind_of(rocrand_rng_type type) {
  return type == ROCRAND_RNG_PSEUDO_DEFAULT || type == ROCRAND_RNG_PSEUDO_XORWOW ? xorwow
         : type == ROCRAND_RNG_PSEUDO_MRG32K3A                                   ? mrg32k3a
         : type == ROCRAND_RNG_PSEUDO_PHILOX4_32_10                              ? philox
                                                                                 : none;
}
}  // namespace __gpulab_random
__GPULAB_RANDOM_ADMINISTRATION__(rocrand_status, rocrand_status, rocrand_generator, rocrand_rng_type,
                                 rocrand_create_generator,
                                 rocrand_create_generator_host, rocrand_destroy_generator, rocrand_set_stream,
                                 rocrand_set_seed, rocrand_set_offset, rocrand_initialize_generator)
__GPULAB_RANDOM_CALLS__(rocrand_status, rocrand_status, rocrand_generator, rocrand_generate, rocrand_generate_char,
                        rocrand_generate_short, rocrand_generate_uniform, rocrand_generate_uniform_double,
                        rocrand_generate_normal, rocrand_generate_normal_double, rocrand_generate_log_normal,
                        rocrand_generate_log_normal_double, rocrand_generate_poisson)
inline rocrand_status rocrand_get_version(int* version) {
  if (version == nullptr) return ROCRAND_STATUS_OUT_OF_RANGE;
  *version = ROCRAND_VERSION;
  return ROCRAND_STATUS_SUCCESS;
}
inline rocrand_status rocrand_set_ordering(rocrand_generator g, rocrand_ordering order) {  // there is one
  if (g == nullptr) return ROCRAND_STATUS_NOT_CREATED;
  return order < ROCRAND_ORDERING_QUASI_DEFAULT ? ROCRAND_STATUS_SUCCESS : ROCRAND_STATUS_OUT_OF_RANGE;
}
#endif
