// The C library's <stdlib.h>; for C++, GNU's is <cstdlib> with its names outside of std, too.
#include_next <stdlib.h>  // each time: the C library's headers ask it for parts
#if defined(__cplusplus) && !defined(GPULAB_LIBRARY_STDLIB)
#define GPULAB_LIBRARY_STDLIB
extern "C++" {  // for sources that include it between extern "C" and a closing brace
#include <cstdlib>
}
#endif
