const int between = 3;

__global__ void store_answers(int* answers)
{
    if (threadIdx.x != 0) return;
    for (int question = 0; question < 8; question++) {
        int letter = 'A' + question;
        answers[question] = letter == 'B' || letter == 'C' || letter == 'G' || letter == 'H';
    }
    answers[8] = 13;
    answers[9] = 8;
}
