#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "warp.h"

static float largest_difference(const Image& a, const Image& b) {
  float most = a.pixels.size() == b.pixels.size() ? 0.0f : 1e9f;
  for (size_t i = 0; most < 1e8f && i < a.pixels.size(); ++i) most = std::fmax(most, std::fabs(a.pixels[i] - b.pixels[i]));
  return most;
}

int main(int argc, char** argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 197, height = argc > 2 ? std::atoi(argv[2]) : 143;
  const float degrees = argc > 3 ? static_cast<float>(std::atof(argv[3])) : 27.5f;
  Image image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      image.pixels[static_cast<size_t>(y) * width + x] =
          0.5f + 0.25f * std::sin(x * 0.21f) * std::cos(y * 0.17f) + 0.25f * ((x / 16 + y / 16) % 2);
  Table table(512);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint32_t>(i * 2654435761u);
  std::printf("textures: %s\n", device_has_textures() ? "yes" : "no, plain loads");

  // A texture unit's weights have 8 bits behind the point: neighbours that differ by 1 give an error up to 1/256
  // in each direction.
  const float tolerance = 2.5f / 256;
  const Rotation rotation(degrees, width, height);
  const float rotated = largest_difference(rotate_on_device(image, rotation), rotate_on_host(image, rotation));
  const float halved = largest_difference(halve_on_device(image), halve_on_host(image));
  const bool colours = colour_on_device(image, table) == colour_on_host(image, table);
  const bool right = rotated < tolerance && halved < 1e-6f && colours;
  std::printf("rotated: %g, halved: %g, colours: %s\n", rotated, halved, colours ? "same" : "different");
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
