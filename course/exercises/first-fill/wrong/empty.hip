// expected cause: nothing-written
__global__ void fill(int n, float value, float* out)
{
}
