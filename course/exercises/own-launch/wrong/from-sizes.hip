// expected cause: setup-not-read
__global__ void report(int* out)
{
    struct packet {
        unsigned short header, setup, workgroup_size[3], reserved0;
        unsigned grid_size[3], private_segment_size, group_segment_size;
    };
    const packet* p = (const packet*)__builtin_amdgcn_dispatch_ptr();
    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z > 0) return;
    out[0] = p->grid_size[2] > 1 ? 3 : p->grid_size[1] > 1 ? 2 : 1;
    out[4] = 1;
    for (int axis = 0; axis < 3; axis++) {
        out[1 + axis] = p->grid_size[axis] / p->workgroup_size[axis];
        out[4] *= p->workgroup_size[axis];
    }
    out[5] = p->group_segment_size;
}
