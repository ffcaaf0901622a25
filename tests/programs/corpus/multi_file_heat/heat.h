#ifndef HEAT_H
#define HEAT_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct field {
  int nx, ny;          /* inner cells */
  double dx2, dy2;
  double *data;        /* (nx + 2) * (ny + 2) on the host */
  double *dev_data;
} field;

#define IDX(i, j, ny) ((i) * ((ny) + 2) + (j))

/* core_hip.cpp */
void enter_data(field *curr, field *prev);
void exit_data(field *curr, field *prev);
void update_host(field *f);
void evolve_gpu(field *curr, field *prev, double a, double dt);

/* core.c */
void evolve_cpu(field *curr, field *prev, double a, double dt);

/* setup.c */
void set_field(field *f, int nx, int ny);
void generate_field(field *f);
void copy_field(const field *from, field *to);
double average(const field *f);
void finalize(field *f);

#ifdef __cplusplus
}
#endif
#endif
