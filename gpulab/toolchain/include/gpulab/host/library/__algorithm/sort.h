// libc++'s std::sort, which calls functions that are compiled into the library, or others of the host. In kernels it is the
// heap sort that it is in constant expressions: without recursion, so that the stack has a known size. These functions
// stand before the library's, as std::sort knows those alone that were declared before it.
#if defined(__HIP_DEVICE_COMPILE__) && __cplusplus >= 202002L && !defined(__GPULAB_SORT__)
#define __GPULAB_SORT__
#include <__algorithm/comp.h>
#include <__algorithm/partial_sort.h>
#include <__functional/operations.h>
#include <__functional/ranges_operations.h>
#include <__type_traits/enable_if.h>
#include <__type_traits/is_arithmetic.h>
_LIBCPP_BEGIN_NAMESPACE_STD
#define __GPULAB_SORT_BY__(Order)                                                                                    \
  template <class _AlgPolicy, class _Type, __enable_if_t<is_arithmetic<_Type>::value, int> = 0>                      \
  __attribute__((device)) inline void __sort_dispatch(_Type* __first, _Type* __last, Order& __comp) {               \
    std::__partial_sort<_AlgPolicy>(__first, __last, __last, __comp);                                               \
  }
template <class _AlgPolicy, class _Iterator, class _Order>
__attribute__((device)) inline void __sort_dispatch(_Iterator __first, _Iterator __last, _Order& __comp) {
  std::__partial_sort<_AlgPolicy>(__first, __last, __last, __comp);
}
__GPULAB_SORT_BY__(__less<>)
__GPULAB_SORT_BY__(less<_Type>)
__GPULAB_SORT_BY__(less<>)
__GPULAB_SORT_BY__(ranges::less)
#undef __GPULAB_SORT_BY__
_LIBCPP_END_NAMESPACE_STD
#endif
#include_next <__algorithm/sort.h>
