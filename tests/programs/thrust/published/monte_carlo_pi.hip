// Pi by points in a square: each thread has its own stretch of one random sequence.
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/random.h>
#include <thrust/transform_reduce.h>

#include <cmath>
#include <cstdio>

struct EstimatePi {
  int samples;
  __host__ __device__ float operator()(unsigned int thread) const {
    thrust::default_random_engine engine;
    engine.discard(2ull * samples * thread);
    thrust::uniform_real_distribution<float> uniform(0, 1);
    int inside = 0;
    for (int i = 0; i < samples; ++i) {
      float x = uniform(engine), y = uniform(engine);
      if (x * x + y * y <= 1.0f) ++inside;
    }
    return 4.0f * inside / samples;
  }
};

int main() {
  const int threads = 2000;
  EstimatePi estimate{500};
  float device = thrust::transform_reduce(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(threads),
                                          estimate, 0.0f, thrust::plus<float>()) / threads;
  float host = thrust::transform_reduce(thrust::host, thrust::counting_iterator<int>(0),
                                        thrust::counting_iterator<int>(threads), estimate, 0.0f,
                                        thrust::plus<float>()) / threads;
  std::printf(std::abs(device - 3.14159265f) < 0.01f && std::abs(device - host) < 1e-3f ? "all right\n" : "%f %f\n",
              device, host);
}
