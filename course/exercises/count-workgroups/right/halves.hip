struct packet {
    unsigned short header, setup, workgroup_size[3], reserved0;
    unsigned grid_size[3], private_segment_size, group_segment_size;
    unsigned long long kernel_object, kernarg_address, reserved2, completion_signal;
};

__global__ void decode(int n, const unsigned* packets, int* groups)
{
    const packet* all = (const packet*)packets;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int product = 0;
        if (all[i].header % 256 == 2) {
            product = 1;
            for (int axis = 0; axis < 3; axis++) {
                unsigned whole = all[i].grid_size[axis] / all[i].workgroup_size[axis];
                product *= whole + (all[i].grid_size[axis] % all[i].workgroup_size[axis] != 0);
            }
        }
        groups[i] = product;
    }
}
