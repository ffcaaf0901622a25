// host_vector, device_vector, universal_vector, device pointers and references, copies between them.
#include <thrust/copy.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_new.h>
#include <thrust/device_vector.h>
#include <thrust/fill.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/memory.h>
#include <thrust/system/hip/experimental/pinned_allocator.h>
#include <thrust/universal_vector.h>

#include <iterator>
#include <list>
#include <sstream>
#include <string>

#include "check.h"

struct Point {
  float x = 1, y = 2;
  __host__ __device__ Point() {}
  __host__ __device__ Point(float a, float b) : x(a), y(b) {}
  __host__ __device__ bool operator==(const Point& other) const { return x == other.x && y == other.y; }
};

template <typename Vector>
void vectors() {
  Vector none;
  CHECK(none.empty() && none.size() == 0 && none.begin() == none.end());
  Vector zeros(5);
  CHECK(zeros == std::vector<int>(5, 0));
  Vector sevens(4, 7);
  CHECK(sevens == std::vector<int>(4, 7));
  Vector listed{3, 1, 4, 1, 5};
  CHECK(listed == (std::vector<int>{3, 1, 4, 1, 5}));
  std::list<int> chain{1, 2, 3};
  Vector chained(chain.begin(), chain.end());
  CHECK(chained == (std::vector<int>{1, 2, 3}));
  const int plain[] = {9, 8, 7};
  CHECK(Vector(plain, plain + 3) == (std::vector<int>{9, 8, 7}));
  CHECK(Vector(thrust::make_counting_iterator(2), thrust::make_counting_iterator(5)) == (std::vector<int>{2, 3, 4}));
  std::istringstream words("4 5 6 7");
  CHECK(Vector(std::istream_iterator<int>(words), std::istream_iterator<int>()) == (std::vector<int>{4, 5, 6, 7}));
  std::vector<int> standard{6, 5, 4};
  Vector from_standard = standard;
  CHECK(from_standard == standard && standard == from_standard);
  from_standard = std::vector<int>{1, 2};
  CHECK(from_standard == (std::vector<int>{1, 2}) && from_standard != standard);
  Vector copied(listed), moved(std::move(copied));
  CHECK(moved == listed && copied.empty());
  copied = moved;
  copied.swap(sevens);
  CHECK(copied == std::vector<int>(4, 7) && sevens == listed);
  swap(copied, sevens);
  CHECK(sevens.size() == 4 && copied == listed);

  CHECK(listed[2] == 4 && listed.front() == 3 && listed.back() == 5);
  listed[2] = 40;
  listed[3] += 5;
  ++listed[0];
  CHECK(listed == (std::vector<int>{4, 1, 40, 6, 5}));
  listed[1] = listed[2];
  CHECK(listed[1] == 40 && listed[1] == listed[2]);
  int value = listed[0];
  CHECK(value == 4 && *(listed.begin() + 4) == 5 && listed.end() - listed.begin() == 5);
  CHECK(*listed.rbegin() == 5 && *(listed.rend() - 1) == 4);
  std::ostringstream text;
  text << listed[0] << ' ' << listed.back();
  CHECK(text.str() == "4 5");
  for (int i = 0; i < 20; ++i) none.push_back(i);
  none.pop_back();
  CHECK(none.size() == 19 && none[18] == 18 && none.capacity() >= 19);
  auto place = none.insert(none.begin() + 2, 100);
  CHECK(*place == 100 && none[2] == 100 && none[3] == 2 && none.size() == 20);
  none.insert(none.end(), 3, 7);
  none.insert(none.begin(), plain, plain + 3);
  CHECK(none.size() == 26 && none[0] == 9 && none[2] == 7 && none[3] == 0 && none.back() == 7);
  place = none.erase(none.begin() + 1);
  CHECK(*place == 7 && none.size() == 25);
  none.erase(none.begin() + 2, none.end() - 1);
  CHECK(none == (std::vector<int>{9, 7, 7}));
  none.push_back(none[0]);
  none.insert(none.begin(), none.begin(), none.begin() + 2);
  CHECK(none == (std::vector<int>{9, 7, 9, 7, 7, 9}));
  none.assign(2, 5);
  none.resize(4);
  none.resize(6, 8);
  CHECK(none == (std::vector<int>{5, 5, 0, 0, 8, 8}));
  none.resize(1);
  none.reserve(100);
  CHECK(none.capacity() >= 100 && none == std::vector<int>(1, 5));
  none.shrink_to_fit();
  none.assign(standard.begin(), standard.end());
  none = {1, 2, 3, 4};
  none.clear();
  CHECK(none.empty());
  bool thrown = false;
  try {
    Vector huge(std::size_t(1) << 62);
  } catch (const std::length_error&) {
    thrown = true;
  }
  CHECK(thrown);
  Vector const fixed(3, 6);
  CHECK(fixed[1] == 6 && *fixed.cbegin() == 6 && fixed.data() == fixed.begin());
  thrust::fill(sevens.begin(), sevens.end(), 11);
  CHECK(sevens == std::vector<int>(4, 11));
}

void between_systems() {
  thrust::host_vector<int> host(100);
  for (int i = 0; i < 100; ++i) host[i] = i * i;
  thrust::device_vector<int> device = host;
  CHECK(device == host && host == device);
  thrust::host_vector<int> back = device;
  CHECK(back == host);
  back = thrust::host_vector<int>(3, 1);
  device = back;
  CHECK(device.size() == 3 && device[2] == 1);
  thrust::device_vector<double> wide = host;
  CHECK(wide[10] == 100.0 && wide.size() == 100);
  thrust::universal_vector<int> shared(host.begin(), host.end());
  int* plain = thrust::raw_pointer_cast(shared.data());
  CHECK(plain[7] == 49 && shared[8] == 64);
  std::vector<float> standard(100);
  auto end = thrust::copy(wide.begin(), wide.end(), standard.begin());
  CHECK(end == standard.end() && standard[9] == 81.0f);
  std::list<int> chain;
  thrust::copy(shared.begin(), shared.begin() + 4, std::back_inserter(chain));
  CHECK(chain == (std::list<int>{0, 1, 4, 9}));
  thrust::copy(chain.begin(), chain.end(), wide.begin() + 1);
  CHECK(wide[1] == 0.0 && wide[4] == 9.0 && wide[5] == 25.0);
  std::ostringstream text;
  thrust::copy(wide.begin(), wide.begin() + 3, std::ostream_iterator<double>(text, ","));
  CHECK(text.str() == "0,0,1,");
  thrust::copy_n(host.begin(), 5, wide.begin());
  CHECK(wide[3] == 9.0);
  thrust::host_vector<int, thrust::system::hip::experimental::pinned_allocator<int>> pinned(10, 4);
  thrust::device_vector<int> from_pinned = pinned;
  CHECK(from_pinned == std::vector<int>(10, 4));
  thrust::device_vector<bool> flags(3, true);
  flags[1] = false;
  CHECK(flags[0] && !flags[1]);
  thrust::device_vector<Point> points(3);
  CHECK(static_cast<Point>(points[1]) == Point());
  points.push_back(Point(5, 6));
  points.resize(6, Point(7, 8));
  CHECK(points == (std::vector<Point>{Point(), Point(), Point(), Point(5, 6), Point(7, 8), Point(7, 8)}));
  thrust::host_vector<std::string> names(2, "ab");
  names.insert(names.begin(), "c");
  names.push_back("d");
  CHECK(names == (std::vector<std::string>{"c", "ab", "ab", "d"}));
}

void pointers() {
  thrust::device_ptr<int> memory = thrust::device_malloc<int>(10);
  thrust::fill(memory, memory + 10, 3);
  memory[4] = 9;
  CHECK(memory[3] == 3 && *(memory + 4) == 9);
  int* raw = thrust::raw_pointer_cast(memory);
  CHECK(thrust::device_pointer_cast(raw) == memory && memory != nullptr && raw == memory.get());
  thrust::device_ptr<const int> reading = memory;
  CHECK(reading[4] == 9 && &reading[4] - reading == 4);
  thrust::device_ptr<void> untyped = memory;
  thrust::device_ptr<int> typed(untyped);
  CHECK(typed == memory && !thrust::device_ptr<float>());
  thrust::swap(memory[0], memory[4]);
  CHECK(memory[0] == 9 && memory[4] == 3);
  thrust::device_free(memory);
  thrust::device_ptr<Point> made = thrust::device_new<Point>(2);
  CHECK(static_cast<Point>(made[1]) == Point());
  thrust::device_delete(made, 2);
  thrust::device_system_tag device;
  thrust::pointer<int, thrust::device_system_tag> other = thrust::malloc<int>(device, 5);
  *other = 13;
  CHECK(*other == 13);
  thrust::free(device, other);
  thrust::host_system_tag host;
  auto own = thrust::malloc<int>(host, 5);
  own[2] = 4;
  CHECK(own.get()[2] == 4);
  thrust::free(host, own);
  thrust::device_vector<int> vector(4, 2);
  int* inside = thrust::raw_pointer_cast(vector.data());
  CHECK(inside == thrust::raw_pointer_cast(&vector[0]) && inside + 1 == thrust::raw_pointer_cast(&vector[1]));
}

int main() {
  vectors<thrust::host_vector<int>>();
  vectors<thrust::device_vector<int>>();
  vectors<thrust::universal_vector<int>>();
  between_systems();
  pointers();
  return checked(117);
}
