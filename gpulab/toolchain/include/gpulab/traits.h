// The few type traits that the headers use themselves.
#pragma once

namespace gpulab {
template <bool condition, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
  using type = T;
};
template <bool condition, typename T = void>
using enable_if_t = typename enable_if<condition, T>::type;
}  // namespace gpulab
