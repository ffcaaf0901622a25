__global__ void report(int* out)
{
    const unsigned char* p = (const unsigned char*)__builtin_amdgcn_dispatch_ptr();
    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z > 0) return;
    auto two = [&](int at) { return p[at] | p[at + 1] << 8; };
    auto four = [&](int at) { return two(at) | two(at + 2) << 16; };
    out[0] = p[2];
    for (int axis = 0; axis < 3; axis++) out[1 + axis] = four(12 + 4 * axis) / two(4 + 2 * axis);
    out[4] = two(4) * two(6) * two(8);
    out[5] = four(28);
}
