/* The support code as one text: the compiler sees all files together. */

#include "crosslane.c"
#include "images.c"
#include "matrix.c"
#include "memory.c"
#include "observe.c"
#include "patterns.c"
#include "record.c"
#include "replay.c"
#include "rounding.c"
#include "turns.c"
#include "unit.c"
#include "workgroups.c"

#include "barriers.c"
#include "findings.c"
#include "lanes.c"
#include "races.c"
#include "shuffles.c"
#include "waits.c"
#include "written.c"

#include "balance.c"
