#pragma once
#include <cstdint>
#include <vector>

// A grey image of floats, row by row.
struct Image {
  int width = 0, height = 0;
  std::vector<float> pixels;
  Image(int width, int height) : width(width), height(height), pixels(static_cast<size_t>(width) * height) {}
  float at(int x, int y) const;  // 0 outside
  float between(float x, float y) const;  // bilinear, pixel centres at .5
};

// A colour table: grey values are looked up in it.
using Table = std::vector<uint32_t>;

struct Rotation {
  float cosine, sine, centre_x, centre_y;
  Rotation(float degrees, int width, int height);
};

bool device_has_textures();
Image rotate_on_device(const Image& image, const Rotation& rotation);
Image halve_on_device(const Image& image);
std::vector<uint32_t> colour_on_device(const Image& image, const Table& table);

Image rotate_on_host(const Image& image, const Rotation& rotation);
Image halve_on_host(const Image& image);
std::vector<uint32_t> colour_on_host(const Image& image, const Table& table);
