#ifndef RAY_H
#define RAY_H
#include "vec3.h"

struct ray {
    vec3 a, b;
    __host__ __device__ ray() {}
    __host__ __device__ ray(const vec3 &origin, const vec3 &direction) : a(origin), b(direction) {}
    __host__ __device__ vec3 origin() const { return a; }
    __host__ __device__ vec3 direction() const { return b; }
    __host__ __device__ vec3 at(float t) const { return a + t * b; }
};

struct sphere {
    vec3 center;
    float radius;
    vec3 color;
    float reflect;
};

// nearest hit beyond t_min; -1 if none
__host__ __device__ inline int nearest(const sphere *s, int n, const ray &r, float t_min, float &t_hit) {
    int best = -1;
    t_hit = 1e30f;
    for (int i = 0; i < n; i++) {
        vec3 oc = r.origin() - s[i].center;
        float a = dot(r.direction(), r.direction());
        float half_b = dot(oc, r.direction());
        float c = dot(oc, oc) - s[i].radius * s[i].radius;
        float disc = half_b * half_b - a * c;
        if (disc > 0) {
            float root = sqrtf(disc);
            float t = (-half_b - root) / a;
            if (t < t_min) t = (-half_b + root) / a;
            if (t > t_min && t < t_hit) {
                t_hit = t;
                best = i;
            }
        }
    }
    return best;
}
#endif
