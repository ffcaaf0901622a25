// stddef.h for device code.
#pragma once
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifdef __cplusplus
typedef decltype(nullptr) nullptr_t;
#undef NULL
#define NULL __null
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
