// How a conversion of hip/hip_fp4.h, hip_fp6.h and hip_fp8.h rounds.
#pragma once

enum hipRoundMode { hipRoundNearest = 0, hipRoundZero = 1, hipRoundPosInf = 2, hipRoundMinInf = 3 };
