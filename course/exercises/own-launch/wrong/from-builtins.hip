// expected cause: grid-and-block-used
__global__ void report(int* out)
{
    const unsigned* word = (const unsigned*)__builtin_amdgcn_dispatch_ptr();
    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z > 0) return;
    unsigned x = __builtin_amdgcn_workgroup_size_x(), y = __builtin_amdgcn_workgroup_size_y();
    unsigned z = __builtin_amdgcn_workgroup_size_z();
    out[0] = word[0] >> 16;
    out[1] = __builtin_amdgcn_grid_size_x() / x;
    out[2] = __builtin_amdgcn_grid_size_y() / y;
    out[3] = __builtin_amdgcn_grid_size_z() / z;
    out[4] = x * y * z;
    out[5] = word[7];
}
