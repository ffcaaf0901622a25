// Iterators that hipCUB, rocPRIM and Thrust share. All are random-access iterators, for host and device.
#pragma once
#include "operators.h"

namespace gpulab {
namespace primitives {

#ifdef __GPULAB_PROGRAM__
using RandomAccess = std::random_access_iterator_tag;
#else
struct RandomAccess {};
#endif

// What a random-access iterator has, made of three of its functions: `advance(n)`, `distance(other)` and `read()`.
template <typename Self, typename Value, typename Reference>
struct IteratorBase {
  using value_type = Value;
  using reference = Reference;
  using pointer = Value*;
  using difference_type = ptrdiff_t;
  using iterator_category = RandomAccess;
  using self_type = Self;
  __GPULAB_MEMBER__ Reference operator*() const { return self().read(); }
  template <typename Offset>
  __GPULAB_MEMBER__ Reference operator[](Offset n) const {
    return (*this + n).read();
  }
  __GPULAB_MEMBER__ Self& operator++() { return *this += 1; }
  __GPULAB_MEMBER__ Self operator++(int) {
    Self old = self();
    *this += 1;
    return old;
  }
  __GPULAB_MEMBER__ Self& operator--() { return *this += -1; }
  __GPULAB_MEMBER__ Self operator--(int) {
    Self old = self();
    *this += -1;
    return old;
  }
  template <typename Offset>
  __GPULAB_MEMBER__ Self operator+(Offset n) const {
    Self moved = self();
    moved.advance(n);
    return moved;
  }
  friend __GPULAB_MEMBER__ Self operator+(ptrdiff_t n, const Self& a) { return a + n; }
  template <typename Offset>
  __GPULAB_MEMBER__ Self& operator+=(Offset n) {
    self().advance(n);
    return self();
  }
  template <typename Offset, typename = typename enable_if<__is_integral(Offset)>::type>
  __GPULAB_MEMBER__ Self operator-(Offset n) const {
    return *this + -static_cast<ptrdiff_t>(n);
  }
  template <typename Offset>
  __GPULAB_MEMBER__ Self& operator-=(Offset n) {
    return *this += -static_cast<ptrdiff_t>(n);
  }
  __GPULAB_MEMBER__ ptrdiff_t operator-(const Self& other) const { return self().distance(other); }
  friend __GPULAB_MEMBER__ bool operator==(const Self& a, const Self& b) { return a.distance(b) == 0; }
  friend __GPULAB_MEMBER__ bool operator!=(const Self& a, const Self& b) { return a.distance(b) != 0; }
  friend __GPULAB_MEMBER__ bool operator<(const Self& a, const Self& b) { return a.distance(b) < 0; }
  friend __GPULAB_MEMBER__ bool operator>(const Self& a, const Self& b) { return a.distance(b) > 0; }
  friend __GPULAB_MEMBER__ bool operator<=(const Self& a, const Self& b) { return a.distance(b) <= 0; }
  friend __GPULAB_MEMBER__ bool operator>=(const Self& a, const Self& b) { return a.distance(b) >= 0; }

 private:
  __GPULAB_MEMBER__ const Self& self() const { return static_cast<const Self&>(*this); }
  __GPULAB_MEMBER__ Self& self() { return static_cast<Self&>(*this); }
};

template <typename Value>
struct CountingIterator : IteratorBase<CountingIterator<Value>, Value, Value> {
  Value value;
  CountingIterator() = default;
  explicit __GPULAB_MEMBER__ CountingIterator(Value first) : value(first) {}
  template <typename Offset>
  __GPULAB_MEMBER__ void advance(Offset n) {
    value = static_cast<Value>(value + static_cast<Value>(n));
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const CountingIterator& from) const {
    return static_cast<ptrdiff_t>(value) - static_cast<ptrdiff_t>(from.value);
  }
  __GPULAB_MEMBER__ Value read() const { return value; }
};

template <typename Value>
struct ConstantIterator : IteratorBase<ConstantIterator<Value>, Value, Value> {
  Value value;
  ptrdiff_t place = 0;
  ConstantIterator() = default;
  explicit __GPULAB_MEMBER__ ConstantIterator(Value same, ptrdiff_t at = 0) : value(same), place(at) {}
  template <typename Offset>
  __GPULAB_MEMBER__ void advance(Offset n) {
    place += static_cast<ptrdiff_t>(n);
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const ConstantIterator& from) const { return place - from.place; }
  __GPULAB_MEMBER__ Value read() const { return value; }
};

template <typename Value, typename Function, typename Input>
struct TransformIterator : IteratorBase<TransformIterator<Value, Function, Input>, Value, Value> {
  Input from;
  Function function;
  TransformIterator() = default;
  __GPULAB_MEMBER__ TransformIterator(Input input, Function f) : from(input), function(f) {}
  template <typename Offset>
  __GPULAB_MEMBER__ void advance(Offset n) {
    from = from + n;
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const TransformIterator& other) const { return from - other.from; }
  __host__ __device__ inline __attribute__((always_inline, nodebug)) Value read() const {
    Function called = function;
    return static_cast<Value>(called(*from));
  }
};

template <typename Input, typename Offset, typename Value>
struct IndexedIterator
    : IteratorBase<IndexedIterator<Input, Offset, Value>, KeyValue<Offset, Value>, KeyValue<Offset, Value>> {
  Input from;
  Offset place;
  IndexedIterator() = default;
  __GPULAB_MEMBER__ explicit IndexedIterator(Input input, Offset first = 0) : from(input), place(first) {}
  template <typename Step>
  __GPULAB_MEMBER__ void advance(Step n) {
    from = from + n;
    place += static_cast<Offset>(n);
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const IndexedIterator& other) const { return place - other.place; }
  __GPULAB_MEMBER__ KeyValue<Offset, Value> read() const { return KeyValue<Offset, Value>(place, *from); }
  __GPULAB_MEMBER__ void normalize() { place = 0; }
};

// Takes any value and keeps none.
struct DiscardedPlace {
  template <typename T>
  __GPULAB_MEMBER__ const DiscardedPlace& operator=(const T&) const {
    return *this;
  }
};
struct DiscardIterator : IteratorBase<DiscardIterator, void, DiscardedPlace> {
  ptrdiff_t place;
  __GPULAB_MEMBER__ explicit DiscardIterator(ptrdiff_t at = 0) : place(at) {}
  template <typename Offset>
  __GPULAB_MEMBER__ void advance(Offset n) {
    place += static_cast<ptrdiff_t>(n);
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const DiscardIterator& other) const { return place - other.place; }
  __GPULAB_MEMBER__ DiscardedPlace read() const { return DiscardedPlace(); }
};

}  // namespace primitives
}  // namespace gpulab
