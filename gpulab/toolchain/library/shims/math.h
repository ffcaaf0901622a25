// musl reads this name; everything it needs is in libm.h.
#pragma once
