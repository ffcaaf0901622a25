// Iterators, tuples, functional, placeholders, random numbers, complex numbers; on the host and in kernels.
#include <thrust/complex.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/iterator_adaptor.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_input_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/pair.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/shuffle.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/zip_function.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <string>

#include "check.h"

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
struct Negative {
  __host__ __device__ int operator()(int x) const { return -x; }
};
struct SumOfTuple {
  __host__ __device__ int operator()(const thrust::tuple<int, int>& t) const {
    return thrust::get<0>(t) + thrust::get<1>(t);
  }
};
struct AddInto {
  template <typename Tuple>
  __host__ __device__ void operator()(Tuple t) const {
    thrust::get<2>(t) = thrust::get<0>(t) + thrust::get<1>(t);
  }
};
struct Three {
  __host__ __device__ int operator()(int a, int b, int c) const { return a * b + c; }
};
// Each element several times: an adaptor as documentation has it.
template <typename Iterator>
class Repeated : public thrust::iterator_adaptor<Repeated<Iterator>, Iterator> {
 public:
  using super_t = thrust::iterator_adaptor<Repeated<Iterator>, Iterator>;
  __host__ __device__ Repeated(const Iterator& it, int times) : super_t(it), begin(it), times(times) {}
  friend class thrust::iterator_core_access;

 private:
  const Iterator begin;
  unsigned int times;
  __host__ __device__ typename super_t::reference dereference() const {
    return *(begin + (this->base() - begin) / times);
  }
};

template <template <typename...> class Vector>
void iterators() {
  using thrust::make_counting_iterator;
  Vector<int> x(10), y(10), z(10);
  thrust::sequence(x.begin(), x.end());
  CHECK(thrust::reduce(make_counting_iterator(1), make_counting_iterator(101)) == 5050);
  thrust::transform(x.begin(), x.end(), thrust::make_constant_iterator(10), y.begin(), thrust::multiplies<int>());
  CHECK(y[9] == 90);
  auto squares = thrust::make_transform_iterator(x.begin(), Square());
  CHECK(thrust::reduce(squares, squares + 10) == 285 && squares[4] == 16 && *(squares + 3) == 9);
  auto lazy = thrust::make_transform_iterator(make_counting_iterator(0), Square());
  thrust::copy(lazy, lazy + 10, z.begin());
  CHECK(z[7] == 49);
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
  CHECK(thrust::transform_reduce(zipped, zipped + 10, SumOfTuple(), 0, thrust::plus<int>()) == 495);
  CHECK(thrust::get<1>(zipped[3]) == 30 && zipped + 10 - zipped == 10);
  thrust::tuple<int, int> third = zipped[2];
  CHECK(third == thrust::make_tuple(2, 20));
  zipped[2] = thrust::make_tuple(5, 6);
  CHECK(x[2] == 5 && y[2] == 6);
  zipped[2] = third;
  auto all = thrust::make_zip_iterator(x.begin(), y.begin(), z.begin());
  thrust::for_each(all, all + 10, AddInto());
  CHECK(z[9] == 99);
  thrust::transform(all, all + 10, z.begin(), thrust::make_zip_function(Three()));
  CHECK(z[3] == 3 * 30 + 33);
  Vector<int> map{9, 0, 5};
  auto chosen = thrust::make_permutation_iterator(y.begin(), map.begin());
  CHECK(thrust::reduce(chosen, chosen + 3) == 140);
  thrust::copy(x.begin(), x.begin() + 3, chosen);
  CHECK(y[9] == 0 && y[0] == 1 && y[5] == 2);
  auto backwards = thrust::make_reverse_iterator(x.end());
  thrust::copy(backwards, backwards + 10, z.begin());
  CHECK(z[0] == 9 && z[9] == 0);
  thrust::copy(x.begin(), x.end(), thrust::make_transform_output_iterator(z.begin(), Square()));
  CHECK(z[6] == 36);
  auto both = thrust::make_transform_input_output_iterator(z.begin(), Negative(), Square());
  thrust::copy(both, both + 3, y.begin());
  CHECK(y[2] == -4);
  thrust::copy(x.begin(), x.end(), both);
  CHECK(z[3] == 9);
  auto end = thrust::reduce_by_key(x.begin(), x.end(), thrust::make_constant_iterator(1),
                                   thrust::make_discard_iterator(), z.begin());
  CHECK(end.second == z.end() && z[4] == 1);
  Repeated<typename Vector<int>::iterator> twice(x.begin(), 2);
  y.resize(20);
  thrust::copy(twice, twice + 20, y.begin());
  CHECK(y[0] == 0 && y[1] == 0 && y[18] == 9 && y[19] == 9);
  Vector<thrust::tuple<int, float>> tuples(3, thrust::make_tuple(4, 0.5f));
  tuples[1] = thrust::make_tuple(1, 7.0f);
  thrust::sort(tuples.begin(), tuples.end());
  thrust::tuple<int, float> least = tuples[0];
  CHECK(least == thrust::make_tuple(1, 7.0f));
}

void tuples_and_pairs() {
  thrust::tuple<int, double, char> t(1, 2.5, 'c');
  CHECK(thrust::get<0>(t) == 1 && t.get<1>() == 2.5 && thrust::tuple_size<decltype(t)>::value == 3);
  auto [a, b, c] = t;
  CHECK(a == 1 && b == 2.5 && c == 'c');
  int p = 0;
  double q = 0;
  thrust::tie(p, q, thrust::ignore) = t;
  CHECK(p == 1 && q == 2.5);
  CHECK(thrust::make_tuple(1, 2) < thrust::make_tuple(1, 3) && thrust::make_tuple(2, 0) > thrust::make_tuple(1, 9));
  CHECK(thrust::make_tuple(1, 2) != thrust::make_tuple(2, 1) && thrust::make_tuple(1, 2) <= thrust::make_tuple(1, 2));
  thrust::tuple<long, float> wider = thrust::make_tuple(3, 4);
  CHECK(thrust::get<0>(wider) == 3l && thrust::get<1>(wider) == 4.0f);
  thrust::pair<int, std::string> named = thrust::make_pair(3, std::string("three"));
  CHECK(named.first == 3 && thrust::get<1>(named) == "three");
  CHECK(thrust::make_pair(1, 2) < thrust::make_pair(1, 3) && thrust::make_pair(1, 2) == thrust::make_pair(1l, 2l));
  static_assert(std::is_same_v<thrust::tuple_element<1, decltype(t)>::type, double>);
}

void placeholders() {
  using namespace thrust::placeholders;
  thrust::device_vector<float> x(100), y(100, 1.0f);
  thrust::sequence(x.begin(), x.end());
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), 2.0f * _1 + _2);
  CHECK(y[50] == 101.0f);
  CHECK(thrust::count_if(x.begin(), x.end(), _1 >= 10.0f && _1 < 20.0f) == 10);
  thrust::for_each(y.begin(), y.end(), _1 += 1.0f);
  CHECK(y[0] == 2.0f);
  thrust::for_each(y.begin(), y.end(), _1 = 5);
  CHECK(y[99] == 5.0f);
  thrust::device_vector<int> n(64);
  thrust::sequence(n.begin(), n.end());
  CHECK(thrust::count_if(n.begin(), n.end(), !(_1 % 4 == 0)) == 48);
  CHECK(thrust::count_if(n.begin(), n.end(), (_1 & 3) == 1 || -_1 == -63) == 17);
  CHECK((_1 - _2)(7, 3) == 4 && (_1 << 2)(3) == 12 && (~_1)(0) == -1 && (_2 / _1)(2, 9) == 4);
}

__global__ void functions(int* out) {
  out[0] = thrust::plus<int>()(2, 3) + thrust::multiplies<>()(2, 5);
  out[1] = thrust::maximum<int>()(2, 3) * 10 + thrust::minimum<int>()(2, 3);
  out[2] = thrust::not1(thrust::identity<int>())(0) + thrust::not2(thrust::less<int>())(1, 2);
  auto t = thrust::make_tuple(4, 5u);
  out[3] = thrust::get<0>(t) * 10 + static_cast<int>(thrust::get<1>(t));
  out[4] = thrust::square<int>()(7) + thrust::negate<int>()(9);
}

struct Draw {
  __host__ __device__ double operator()(unsigned int i) const {
    thrust::default_random_engine engine(42);
    engine.discard(2 * i);
    thrust::uniform_real_distribution<double> uniform(-1.0, 3.0);
    return uniform(engine);
  }
};
struct Roll {
  __host__ __device__ int operator()(unsigned int i) const {
    thrust::minstd_rand engine(7);
    engine.discard(i);
    thrust::uniform_int_distribution<int> die(1, 6);
    return die(engine);
  }
};
struct Normal {
  __host__ __device__ float operator()(unsigned int i) const {
    thrust::taus88 engine(1000 + 17 * i);
    engine.discard(5);
    thrust::normal_distribution<float> normal(2.0f, 3.0f);
    return normal(engine);
  }
};

void random_numbers() {
  thrust::minstd_rand a;
  thrust::minstd_rand0 a0;
  thrust::ranlux24 b;
  thrust::ranlux48 c;
  std::minstd_rand sa;
  std::minstd_rand0 sa0;
  std::ranlux24 sb;
  std::ranlux48 sc;
  bool same = true;
  for (int i = 0; i < 2000; ++i) same = same && a() == sa() && a0() == sa0() && b() == sb() && c() == sc();
  CHECK(same);
  a.discard(987654321);
  sa.discard(987654321);
  CHECK(a() == sa());
  thrust::minstd_rand seeded(2147483647u * 1u);
  std::minstd_rand std_seeded(2147483647u);
  CHECK(seeded() == std_seeded() && a != seeded);
  const int n = 20000;
  thrust::counting_iterator<unsigned int> index(0);
  thrust::device_vector<double> reals(n);
  thrust::transform(index, index + n, reals.begin(), Draw());
  thrust::host_vector<double> host(n);
  thrust::transform(thrust::host, index, index + n, host.begin(), Draw());
  bool close = true;  // the device multiplies and adds in one step
  for (int i = 0; i < n; ++i) close = close && std::abs(host[i] - reals[i]) < 1e-15 * 8;
  CHECK(close);
  double sum = thrust::reduce(reals.begin(), reals.end());
  CHECK(std::abs(sum / n - 1.0) < 0.05);
  CHECK(*std::min_element(host.begin(), host.end()) >= -1.0 && *std::max_element(host.begin(), host.end()) < 3.0);
  thrust::device_vector<int> rolls(n);
  thrust::transform(index, index + n, rolls.begin(), Roll());
  bool fair = true;
  for (int face = 1; face <= 6; ++face)
    fair = fair && std::abs(thrust::count(rolls.begin(), rolls.end(), face) - n / 6.0) < 250;
  CHECK(fair && thrust::reduce(rolls.begin(), rolls.end(), 0, thrust::maximum<int>()) == 6);
  thrust::device_vector<float> normals(n);
  thrust::transform(index, index + n, normals.begin(), Normal());
  double mean = thrust::reduce(normals.begin(), normals.end(), 0.0) / n;
  thrust::host_vector<float> drawn = normals;
  double variance = 0;
  for (float one : drawn) variance += (one - mean) * (one - mean) / n;
  CHECK(std::abs(mean - 2) < 0.1 && std::abs(variance - 9) < 0.4);
  thrust::device_vector<int> cards(52);
  thrust::sequence(cards.begin(), cards.end());
  thrust::host_vector<int> same_cards = cards;
  thrust::shuffle(cards.begin(), cards.end(), thrust::default_random_engine(5));
  thrust::shuffle(same_cards.begin(), same_cards.end(), thrust::default_random_engine(5));
  CHECK(cards == same_cards && !thrust::is_sorted(cards.begin(), cards.end()));
  thrust::sort(cards.begin(), cards.end());
  CHECK(cards[0] == 0 && cards[51] == 51 && thrust::reduce(cards.begin(), cards.end()) == 1326);
}

struct Cube {
  __host__ __device__ thrust::complex<float> operator()(const thrust::complex<float>& z) const { return z * z * z; }
};
void complex_numbers() {
  using Z = thrust::complex<double>;
  std::complex<double> s(0.7, -1.3);
  Z z(0.7, -1.3);
  auto near = [](Z a, std::complex<double> b) { return std::abs(std::complex<double>(a) - b) < 1e-14; };
  CHECK(near(z + 2.0 * z - 1, s + 2.0 * s - 1.0) && near(z / Z(3, 4), s / std::complex<double>(3, 4)));
  CHECK(near(thrust::exp(z), std::exp(s)) && near(thrust::log(z), std::log(s)) && near(thrust::sqrt(z), std::sqrt(s)));
  CHECK(near(thrust::pow(z, 2.5), std::pow(s, 2.5)) && near(thrust::sin(z), std::sin(s)));
  CHECK(near(thrust::cos(z), std::cos(s)) && near(thrust::tan(z), std::tan(s)) && near(thrust::tanh(z), std::tanh(s)));
  CHECK(near(thrust::asin(z), std::asin(s)) && near(thrust::acos(z), std::acos(s)));
  CHECK(near(thrust::atan(z), std::atan(s)));
  CHECK(near(thrust::asinh(z), std::asinh(s)) && near(thrust::acosh(z), std::acosh(s)));
  CHECK(near(thrust::atanh(z), std::atanh(s)) && near(thrust::polar(2.0, 0.5), std::polar(2.0, 0.5)));
  CHECK(std::abs(thrust::abs(z) - std::abs(s)) < 1e-15 && thrust::norm(z) == std::norm(s));
  CHECK(thrust::arg(z) == std::arg(s) && thrust::conj(z).imag() == 1.3 && z == Z(s));
  thrust::device_vector<thrust::complex<float>> values(10, thrust::complex<float>(1, 1));
  thrust::transform(values.begin(), values.end(), values.begin(), Cube());
  thrust::complex<float> first = values[0];
  CHECK(first == thrust::complex<float>(-2, 2));
  first = thrust::reduce(values.begin(), values.end(), thrust::complex<float>());
  CHECK(first == thrust::complex<float>(-20, 20));
}

int main() {
  iterators<thrust::host_vector>();
  iterators<thrust::device_vector>();
  tuples_and_pairs();
  placeholders();
  thrust::device_vector<int> out(5);
  functions<<<1, 1>>>(thrust::raw_pointer_cast(out.data()));
  CHECK(out == (std::vector<int>{15, 32, 1, 45, 40}));
  random_numbers();
  complex_numbers();
  return checked(76);
}
