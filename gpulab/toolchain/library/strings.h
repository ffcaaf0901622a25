// Functions of the C library that the compiler, or the C++ library in std::find and std::equal, calls by these names. HIP
// declares none of them for kernels.
#pragma once

#define PLAIN extern "C" __attribute__((no_builtin, pure))  // no_builtin: a loop that is strlen would become a call of it

PLAIN int memcmp(const void* a, const void* b, __SIZE_TYPE__ bytes) {
  auto one = (const unsigned char*)a, other = (const unsigned char*)b;
  for (__SIZE_TYPE__ i = 0; i < bytes; ++i)
    if (one[i] != other[i]) return one[i] < other[i] ? -1 : 1;
  return 0;
}
PLAIN int bcmp(const void* a, const void* b, __SIZE_TYPE__ bytes) { return memcmp(a, b, bytes); }
PLAIN void* memchr(const void* from, int wanted, __SIZE_TYPE__ bytes) {
  auto at = (const unsigned char*)from;
  for (; bytes; --bytes, ++at)
    if (*at == (unsigned char)wanted) return (void*)at;
  return nullptr;
}
PLAIN __SIZE_TYPE__ strlen(const char* text) {
  __SIZE_TYPE__ length = 0;
  while (text[length]) ++length;
  return length;
}
PLAIN int wmemcmp(const wchar_t* a, const wchar_t* b, __SIZE_TYPE__ count) {
  for (; count; --count, ++a, ++b)
    if (*a != *b) return *a < *b ? -1 : 1;
  return 0;
}
PLAIN wchar_t* wmemchr(const wchar_t* from, wchar_t wanted, __SIZE_TYPE__ count) {
  for (; count; --count, ++from)
    if (*from == wanted) return (wchar_t*)from;
  return nullptr;
}
PLAIN __SIZE_TYPE__ wcslen(const wchar_t* text) {
  __SIZE_TYPE__ length = 0;
  while (text[length]) ++length;
  return length;
}

#undef PLAIN
