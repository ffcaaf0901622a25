// Uses the library through its header alone
#include <vecmath.hpp>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20000;
  std::vector<double> x(n), y(n), z(n);
  double dot = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = double(i % 100);
    y[i] = double(i % 7) - 3;
    dot += x[i] * y[i];
    squares += x[i] * x[i];
  }
  vecmath::vector a(x.data(), n), b(y.data(), n);
  vecmath::vector c = a + 2.0 * b;
  c = c + a;
  c.download(z.data());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += z[i] != 2 * x[i] + 2 * y[i];
  const double got = vecmath::dot(a, b), length = vecmath::norm(a);
  bool thrown = false;
  try {
    vecmath::vector shorter(n / 2);
    (void)(a + shorter);
  } catch (const vecmath::error& e) {
    thrown = true;
    std::cout << "expected: " << e.what() << '\n';
  }
  std::cout << wrong << " wrong, dot " << got << " (" << dot << "), norm " << length << '\n';
  const bool good = wrong == 0 && got == dot && std::fabs(length - std::sqrt(squares)) < 1e-9 && thrown;
  std::cout << (good ? "PASSED" : "FAILED") << std::endl;
  return good ? 0 : 1;
}
