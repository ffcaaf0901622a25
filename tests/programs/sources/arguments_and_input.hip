// argv, standard input and the exit code of a program that does what a tool does.
// RUN: 3 "two words"
// IN: 4
// IN: 1.5 2.5 -3 4
// EXIT: 2
// OUT: ./name has 2 arguments: [3] [two words]
// OUT: 3 * [1.5 2.5 -3 4] = 4.5 7.5 -9 12
#include <hip/hip_runtime.h>

#include <iostream>
#include <string>
#include <vector>

__global__ void scale(double* x, double factor, int n) {
  if (threadIdx.x < n) x[threadIdx.x] *= factor;
}

int main(int argc, char** argv) {
  std::string own = argv[0];
  std::cout << (own.find("arguments_and_input") != std::string::npos ? "./name" : own) << " has " << argc - 1
            << " arguments:";
  for (int i = 1; i < argc; ++i) std::cout << " [" << argv[i] << "]";
  std::cout << "\n";
  if (argv[argc] != nullptr) return 1;
  int n = 0;
  std::cin >> n;
  std::vector<double> x(n);
  for (double& value : x) std::cin >> value;
  std::cout << argv[1] << " * [";
  for (int i = 0; i < n; ++i) std::cout << (i ? " " : "") << x[i];
  double* device;
  if (hipMalloc(&device, n * sizeof(double)) != hipSuccess) return 1;
  if (hipMemcpy(device, x.data(), n * sizeof(double), hipMemcpyHostToDevice) != hipSuccess) return 1;
  scale<<<1, 64>>>(device, std::stod(argv[1]), n);
  if (hipMemcpy(x.data(), device, n * sizeof(double), hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::cout << "] =";
  for (double value : x) std::cout << " " << value;
  std::cout << "\n";
  return argc - 1;
}
