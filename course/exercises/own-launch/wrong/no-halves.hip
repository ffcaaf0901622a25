// expected cause: sizes-taken-together
__global__ void report(int* out)
{
    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z > 0) return;
    const unsigned* word = (const unsigned*)__builtin_amdgcn_dispatch_ptr();
    const unsigned short* half = (const unsigned short*)word;
    out[0] = half[1];
    for (int axis = 0; axis < 3; axis++) out[1 + axis] = word[3 + axis] / half[2 + axis];
    out[4] = word[1] * word[2];
    out[5] = word[7];
}
