struct Place {
    float keep, around;
};

__global__ void cool_all(int n, int steps, const int* outside, const float* start, float* end)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Place place = {0.98f, 21.0f};
        if (outside[i] != 0) {
            place.keep = 0.95f;
            place.around = 5.0f;
        }
        float difference = start[i] - place.around;
        while (steps-- > 0) difference *= place.keep;
        end[i] = place.around + difference;
    }
}
