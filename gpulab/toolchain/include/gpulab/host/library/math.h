// The C library's <math.h>; for C++, GNU's is <cmath> with its names outside of std, too.
#include_next <math.h>
#if defined(__cplusplus) && !defined(GPULAB_LIBRARY_MATH)
#define GPULAB_LIBRARY_MATH
extern "C++" {  // for sources that include it between extern "C" and a closing brace
#include <cmath>
}
#endif
