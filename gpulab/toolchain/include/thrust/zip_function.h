// A function of several parameters, for elements of a zip_iterator.
#pragma once
#include "tuple.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Function>
class zip_function {
  Function function;
  template <typename Tuple, size_t... index>
  constexpr decltype(auto) spread(Tuple&& given, std::index_sequence<index...>) const {
    return const_cast<Function&>(function)(thrust::get<index>(given)...);
  }

 public:
  constexpr zip_function(Function given) : function(given) {}
  template <typename Tuple>
  constexpr decltype(auto) operator()(Tuple&& given) const {
    return spread(given, std::make_index_sequence<tuple_size<std::decay_t<Tuple>>::value>());
  }
  constexpr const Function& underlying_function() const { return function; }
};
template <typename Function>
constexpr zip_function<std::decay_t<Function>> make_zip_function(Function&& function) {
  return zip_function<std::decay_t<Function>>(static_cast<Function&&>(function));
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
