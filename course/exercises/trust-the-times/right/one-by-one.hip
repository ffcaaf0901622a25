const int next = 2;

__global__ void store_answers(int* answers)
{
    if (threadIdx.x != 0) return;
    answers[0] = 2;     // A: the mean contains eight cold runs
    answers[1] = 1;     // B: the intervals of the warm runs do not overlap, 2 % apart
    answers[2] = 2;     // C: at 2100 MHz tiled takes 98, plain 100
    answers[3] = 3;     // D: plain was never measured at 1750 MHz
    answers[4] = 1;     // E: 98.1 * 2100 and 117.7 * 1750 differ by less than 0.1 %
    answers[5] = 2;     // F: no run is between 92 and 109
    answers[6] = 1;     // G: 12 of 24 below 98.9
    answers[7] = 3;     // H: no address was recorded
}
