// The same value again and again.
#pragma once
#include "iterator_adaptor.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Value, typename Incrementable = use_default, typename System = use_default>
class constant_iterator
    : public iterator_adaptor<constant_iterator<Value, Incrementable, System>,
                              detail::or_default<Incrementable, ptrdiff_t>, Value,
                              detail::or_default<System, any_system_tag>, std::random_access_iterator_tag, Value,
                              ptrdiff_t> {
  using place = detail::or_default<Incrementable, ptrdiff_t>;
  using super = iterator_adaptor<constant_iterator, place, Value, detail::or_default<System, any_system_tag>,
                                 std::random_access_iterator_tag, Value, ptrdiff_t>;
  friend class iterator_core_access;
  Value kept;
  constexpr Value dereference() const { return kept; }

 public:
  constexpr constant_iterator() : kept() {}
  constexpr constant_iterator(const Value& value, const place& from = place()) : super(from), kept(value) {}
  constexpr const Value& value() const { return kept; }
};
template <typename Value>
constexpr constant_iterator<Value> make_constant_iterator(Value value) {
  return constant_iterator<Value>(value);
}
template <typename Value, typename Incrementable>
constexpr constant_iterator<Value, Incrementable> make_constant_iterator(Value value, Incrementable from) {
  return constant_iterator<Value, Incrementable>(value, from);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
