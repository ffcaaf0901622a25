#ifndef FILTER_H
#define FILTER_H
#if defined(_WIN32)
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif
#ifdef __cplusplus
extern "C" {
#endif
typedef struct filter filter_t;
API filter_t *filter_create(const float *taps, int n);
API int filter_run(filter_t *f, const float *in, float *out, int n);
API const char *filter_error(const filter_t *f);
API void filter_destroy(filter_t *f);
#ifdef __cplusplus
}
#endif
#endif
