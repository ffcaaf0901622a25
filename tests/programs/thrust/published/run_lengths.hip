// Run-length encoding and decoding, and the words of a text counted.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>

#include <cctype>
#include <string>

#include "../check.h"

__host__ __device__ bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
struct BeginsWord {
  __host__ __device__ bool operator()(char left, char right) const { return is_letter(right) && !is_letter(left); }
};

int main() {
  std::string text = "aaabbbbbcddeeeeeeeeeff";
  thrust::device_vector<char> input(text.begin(), text.end()), letters(text.size());
  thrust::device_vector<int> lengths(text.size());
  auto ends = thrust::reduce_by_key(input.begin(), input.end(), thrust::constant_iterator<int>(1), letters.begin(),
                                    lengths.begin());
  letters.resize(ends.first - letters.begin());
  lengths.resize(ends.second - lengths.begin());
  thrust::host_vector<char> h = letters;
  CHECK(std::string(h.begin(), h.end()) == "abcdef" && lengths == (std::vector<int>{3, 5, 1, 2, 9, 2}));

  thrust::inclusive_scan(lengths.begin(), lengths.end(), lengths.begin());
  int size = lengths.back();
  thrust::device_vector<int> places(size);
  thrust::counting_iterator<int> first(0);
  thrust::upper_bound(lengths.begin(), lengths.end(), first, first + size, places.begin());
  thrust::device_vector<char> output(size);
  thrust::gather(places.begin(), places.end(), letters.begin(), output.begin());
  CHECK(output == input);

  std::string page;
  for (int i = 0; i < 50; ++i) page += "A wave of 64 lanes, or of 32: it depends on the device.  ";
  thrust::device_vector<char> characters(page.begin(), page.end());
  int words = is_letter(page[0]) ? 1 : 0;
  words += thrust::inner_product(characters.begin(), characters.end() - 1, characters.begin() + 1, 0,
                                 thrust::plus<int>(), BeginsWord());
  CHECK(words == 50 * 11);
  return checked(3);
}
