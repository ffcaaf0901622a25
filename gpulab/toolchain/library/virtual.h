// What the table of an abstract class names where a member function has no body: to call it is a mistake, and ends the
// kernel (Itanium C++ ABI, 3.2.6).
#pragma once

extern "C" __attribute__((noreturn)) void __cxa_pure_virtual() { __builtin_trap(); }
extern "C" __attribute__((noreturn)) void __cxa_deleted_virtual() { __builtin_trap(); }
