/* A C program that knows nothing of HIP */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "filter.h"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 3000, i, k, wrong = 0;
    float taps[21], *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    filter_t *f;
    for (k = 0; k < 21; k++) taps[k] = (k % 2 ? -0.25f : 0.5f) / (k + 1);
    for (i = 0; i < n; i++) x[i] = (float)(i * 37 % 101) - 50;
    if (filter_create(taps, 1000)) { printf("too many taps are accepted\nFAILED\n"); return 1; }
    f = filter_create(taps, 21);
    if (!f || filter_run(f, x, y, n)) { printf("error: %s\nFAILED\n", f ? filter_error(f) : "none"); return 1; }
    for (i = 0; i < n; i++) {
        double s = 0;
        for (k = 0; k < 21 && k <= i; k++) s += (double)taps[k] * x[i - k];
        if (fabs(s - y[i]) > 1e-4) wrong++;
    }
    filter_destroy(f);
    free(x);
    free(y);
    printf("%d samples, %d wrong\n%s\n", n, wrong, wrong ? "FAILED" : "PASSED");
    return wrong != 0;
}
