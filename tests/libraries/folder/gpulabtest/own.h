/* The structure that testScale takes by value. */
#ifndef GPULABTEST_OWN_H
#define GPULABTEST_OWN_H
struct Pair { double first; int second; };
#endif
