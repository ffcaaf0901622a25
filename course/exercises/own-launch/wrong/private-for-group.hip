// expected cause: lds-missing
__global__ void report(int* out)
{
    struct packet {
        unsigned short header, setup, workgroup_size[3], reserved0;
        unsigned grid_size[3], private_segment_size, group_segment_size;
    };
    const packet* p = (const packet*)__builtin_amdgcn_dispatch_ptr();
    bool first_block = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
    if (first_block && threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        out[0] = p->setup;
        out[4] = 1;
        for (int axis = 0; axis < 3; axis++) {
            out[1 + axis] = p->grid_size[axis] / p->workgroup_size[axis];
            out[4] *= p->workgroup_size[axis];
        }
        out[5] = p->private_segment_size;
    }
}
