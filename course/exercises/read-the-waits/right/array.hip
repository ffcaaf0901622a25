// A to H
__device__ const int answer[8] = { 5, 8, 6, 3, 2, 12, 1, 1 };

__global__ void store_answers(int* answers)
{
    if (threadIdx.x < 8) answers[threadIdx.x] = answer[threadIdx.x];
}
