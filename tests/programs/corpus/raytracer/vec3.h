#ifndef VEC3_H
#define VEC3_H
#include <cmath>
#include <iostream>

class vec3 {
public:
    __host__ __device__ vec3() {}
    __host__ __device__ vec3(float e0, float e1, float e2) { e[0] = e0; e[1] = e1; e[2] = e2; }
    __host__ __device__ inline float x() const { return e[0]; }
    __host__ __device__ inline float y() const { return e[1]; }
    __host__ __device__ inline float z() const { return e[2]; }
    __host__ __device__ inline vec3 operator-() const { return vec3(-e[0], -e[1], -e[2]); }
    __host__ __device__ inline float operator[](int i) const { return e[i]; }
    __host__ __device__ inline float &operator[](int i) { return e[i]; }
    __host__ __device__ inline vec3 &operator+=(const vec3 &v) { e[0] += v[0]; e[1] += v[1]; e[2] += v[2]; return *this; }
    __host__ __device__ inline vec3 &operator*=(float t) { e[0] *= t; e[1] *= t; e[2] *= t; return *this; }
    __host__ __device__ inline float squared_length() const { return e[0] * e[0] + e[1] * e[1] + e[2] * e[2]; }
    __host__ __device__ inline float length() const { return sqrt(squared_length()); }
    float e[3];
};

inline std::ostream &operator<<(std::ostream &os, const vec3 &v) { return os << v[0] << ' ' << v[1] << ' ' << v[2]; }
__host__ __device__ inline vec3 operator+(const vec3 &a, const vec3 &b) { return vec3(a[0] + b[0], a[1] + b[1], a[2] + b[2]); }
__host__ __device__ inline vec3 operator-(const vec3 &a, const vec3 &b) { return vec3(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }
__host__ __device__ inline vec3 operator*(const vec3 &a, const vec3 &b) { return vec3(a[0] * b[0], a[1] * b[1], a[2] * b[2]); }
__host__ __device__ inline vec3 operator*(float t, const vec3 &v) { return vec3(t * v[0], t * v[1], t * v[2]); }
__host__ __device__ inline float dot(const vec3 &a, const vec3 &b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
__host__ __device__ inline vec3 unit(vec3 v) { return (1.0f / v.length()) * v; }
__host__ __device__ inline vec3 reflect(const vec3 &v, const vec3 &n) { return v - 2.0f * dot(v, n) * n; }
#endif
