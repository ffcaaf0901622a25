#include <algorithm>
#include <cmath>

#include "warp.h"

float Image::at(int x, int y) const {
  return x < 0 || y < 0 || x >= width || y >= height ? 0.0f : pixels[static_cast<size_t>(y) * width + x];
}

float Image::between(float x, float y) const {
  x -= 0.5f;
  y -= 0.5f;
  float left = std::floor(x), top = std::floor(y), a = x - left, b = y - top;
  int i = static_cast<int>(left), j = static_cast<int>(top);
  return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) + a * b * at(i + 1, j + 1);
}

Rotation::Rotation(float degrees, int width, int height) : centre_x(width / 2.0f), centre_y(height / 2.0f) {
  float angle = degrees * 3.14159265358979f / 180.0f;
  cosine = std::cos(angle);
  sine = std::sin(angle);
}

Image rotate_on_host(const Image& image, const Rotation& r) {
  Image result(image.width, image.height);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      float dx = x + 0.5f - r.centre_x, dy = y + 0.5f - r.centre_y;
      float u = r.cosine * dx + r.sine * dy + r.centre_x, v = -r.sine * dx + r.cosine * dy + r.centre_y;
      result.pixels[static_cast<size_t>(y) * image.width + x] = image.between(u, v);
    }
  return result;
}

Image halve_on_host(const Image& image) {
  Image result(image.width / 2, image.height / 2);
  for (int y = 0; y < result.height; ++y)
    for (int x = 0; x < result.width; ++x)
      result.pixels[static_cast<size_t>(y) * result.width + x] = image.between(2 * x + 1.0f, 2 * y + 1.0f);
  return result;
}

std::vector<uint32_t> colour_on_host(const Image& image, const Table& table) {
  std::vector<uint32_t> result(image.pixels.size());
  const int last = static_cast<int>(table.size()) - 1;
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = table[std::clamp(static_cast<int>(image.pixels[i] * last + 0.5f), 0, last)];
  return result;
}
