#ifndef TIMER_H
#define TIMER_H

#include <stdlib.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
LARGE_INTEGER timerStart, timerFrequency;
#else
#include <sys/time.h>
struct timeval timerStart;
#endif

void StartTimer()
{
#ifdef _WIN32
    QueryPerformanceFrequency(&timerFrequency);
    QueryPerformanceCounter(&timerStart);
#else
    gettimeofday(&timerStart, NULL);
#endif
}

// time elapsed in ms
double GetTimer()
{
#ifdef _WIN32
    LARGE_INTEGER now;
    QueryPerformanceCounter(&now);
    return 1000.0 * (now.QuadPart - timerStart.QuadPart) / timerFrequency.QuadPart;
#else
    struct timeval timerStop, timerElapsed;
    gettimeofday(&timerStop, NULL);
    timersub(&timerStop, &timerStart, &timerElapsed);
    return timerElapsed.tv_sec * 1000.0 + timerElapsed.tv_usec / 1000.0;
#endif
}

#endif // TIMER_H
