#include <stdlib.h>
#include <string.h>
#include <assert.h>
#include "heat.h"

void set_field(field *f, int nx, int ny)
{
  f->nx = nx;
  f->ny = ny;
  f->dx2 = 0.01 * 0.01;
  f->dy2 = 0.02 * 0.02;
  f->data = calloc((size_t)(nx + 2) * (ny + 2), sizeof *f->data);
  f->dev_data = NULL;
  assert(f->data);
}

void generate_field(field *f)
{
  int i, j;
  double radius = f->nx / 6.0;
  for (i = 0; i < f->nx + 2; i++)
    for (j = 0; j < f->ny + 2; j++) {
      double dx = i - f->nx / 2.0 + 1, dy = j - f->ny / 2.0 + 1;
      f->data[IDX(i, j, f->ny)] = dx * dx + dy * dy < radius * radius ? 5.0 : 65.0;
    }
  for (i = 0; i < f->nx + 2; i++) { f->data[IDX(i, 0, f->ny)] = 20.0; f->data[IDX(i, f->ny + 1, f->ny)] = 70.0; }
  for (j = 0; j < f->ny + 2; j++) { f->data[IDX(0, j, f->ny)] = 85.0; f->data[IDX(f->nx + 1, j, f->ny)] = 5.0; }
}

void copy_field(const field *from, field *to)
{
  memcpy(to->data, from->data, (size_t)(from->nx + 2) * (from->ny + 2) * sizeof(double));
}

double average(const field *f)
{
  double sum = 0;
  int i, j;
  for (i = 1; i <= f->nx; i++) for (j = 1; j <= f->ny; j++) sum += f->data[IDX(i, j, f->ny)];
  return sum / ((double)f->nx * f->ny);
}

void finalize(field *f)
{
  free(f->data);
  f->data = NULL;
}
