#include "heat.h"

void evolve_cpu(field *curr, field *prev, double a, double dt)
{
  int i, j, ny = curr->ny;
  for (i = 1; i <= curr->nx; i++)
    for (j = 1; j <= ny; j++) {
      int ind = IDX(i, j, ny);
      curr->data[ind] = prev->data[ind] + a * dt *
        ((prev->data[IDX(i + 1, j, ny)] - 2.0 * prev->data[ind] + prev->data[IDX(i - 1, j, ny)]) / prev->dx2 +
         (prev->data[IDX(i, j + 1, ny)] - 2.0 * prev->data[ind] + prev->data[IDX(i, j - 1, ny)]) / prev->dy2);
    }
}
