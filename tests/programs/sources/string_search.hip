// Where a word occurs in a text: flags from the device, std::string::find on the host.
// OUT: 'wave' occurs 4 times: 2 19 39 59
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)
#include <string>

__global__ void search(const char* text, int n, const char* word, int length, unsigned char* found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + length > n) return;
  bool same = true;
  for (int k = 0; k < length && same; ++k) same = text[i + k] == word[k];
  found[i] = same;
}

int main() {
  std::string text = "a wavefront, not a wave of water; the  waves of a sea are  waves too", word = "wave";
  char *dt, *dw;
  unsigned char* df;
  CHECK(hipMalloc(&dt, text.size()));
  CHECK(hipMalloc(&dw, word.size()));
  CHECK(hipMalloc(&df, text.size()));
  CHECK(hipMemset(df, 0, text.size()));
  CHECK(hipMemcpy(dt, text.c_str(), text.size(), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(dw, word.c_str(), word.size(), hipMemcpyHostToDevice));
  search<<<2, 64>>>(dt, text.size(), dw, word.size(), df);
  std::vector<unsigned char> found(text.size());
  CHECK(hipMemcpy(found.data(), df, text.size(), hipMemcpyDeviceToHost));
  std::vector<size_t> places;
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i]) places.push_back(i);
  size_t at = 0;
  for (size_t place : places) {
    at = text.find(word, at);
    if (at++ != place) return 1;
  }
  if (text.find(word, at) != std::string::npos) return 1;
  std::printf("'%s' occurs %zu times:", word.c_str(), places.size());
  for (size_t place : places) std::printf(" %zu", place);
  std::printf("\n");
}
