const int helps = 1;

__global__ void store_answers(int* answers)
{
    if (threadIdx.x != 0) return;
    answers[0] = 5;     // A
    answers[1] = 8;     // B
    answers[2] = 6;     // C
    answers[3] = 3;     // D: lines 7, 12, 15
    answers[4] = 2;     // E: those of 12 and 15 may be left
    answers[5] = 12;    // F
    answers[6] = 1;     // G: the store is in vscnt
}
