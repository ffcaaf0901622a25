// expected cause: packet-not-used
__global__ void report(int* out)
{
    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z > 0) return;
    out[0] = gridDim.z * blockDim.z > 1 ? 3 : gridDim.y * blockDim.y > 1 ? 2 : 1;
    out[1] = gridDim.x;
    out[2] = gridDim.y;
    out[3] = gridDim.z;
    out[4] = blockDim.x * blockDim.y * blockDim.z;
    out[5] = __builtin_amdgcn_groupstaticsize() + ((const unsigned*)__builtin_amdgcn_implicitarg_ptr())[30];
}
