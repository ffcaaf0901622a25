// Heat equation in two dimensions; the structure of many courses' examples: C for the host, one file for the GPU
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>
#include "heat.h"

int main(int argc, char **argv)
{
  const double a = 0.5;
  int nx = 100, ny = 80, nsteps = 40;
  switch (argc) {
    case 4: nsteps = std::atoi(argv[3]); [[fallthrough]];
    case 3: nx = std::atoi(argv[1]); ny = std::atoi(argv[2]); break;
    case 2: nsteps = std::atoi(argv[1]); break;
  }
  field fields[4], *current = &fields[0], *previous = &fields[1], *ref = &fields[2], *ref_previous = &fields[3];
  for (field &f : fields) set_field(&f, nx, ny);
  generate_field(previous);
  for (field *f : {current, ref, ref_previous}) copy_field(previous, f);
  const double dt = current->dx2 * current->dy2 / (2.0 * a * (current->dx2 + current->dy2));
  std::printf("Average temperature at start: %f\n", average(previous));
  const std::clock_t start = std::clock();
  enter_data(current, previous);
  for (int step = 0; step < nsteps; step++) {
    evolve_gpu(current, previous, a, dt);
    std::swap(current, previous);
  }
  update_host(previous);
  std::printf("%d iterations took %.3f seconds.\n", nsteps, (std::clock() - start) / (double)CLOCKS_PER_SEC);
  for (int step = 0; step < nsteps; step++) {
    evolve_cpu(ref, ref_previous, a, dt);
    std::swap(ref, ref_previous);
  }
  double worst = 0;
  for (int k = 0; k < (nx + 2) * (ny + 2); k++) worst = std::fmax(worst, std::fabs(previous->data[k] - ref_previous->data[k]));
  std::printf("Average temperature: %f (reference %f), largest difference %.2e\n", average(previous), average(ref_previous), worst);
  exit_data(current, previous);
  for (field &f : fields) finalize(&f);
  std::printf(worst < 1e-10 ? "PASSED\n" : "FAILED\n");
  return worst < 1e-10 ? 0 : 1;
}
