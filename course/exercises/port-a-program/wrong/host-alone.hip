// expected cause: kernels-do-the-work
// Grains of dust on a plate, moved by the wind: the CUDA program dust.cu, ported.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>

#define WARP warpSize
#define FULL_MASK 0xffffffffffffffffull
#define BLOCK 256
#define BINS 16
#define SALTS 64

const int WIDTH = 64;
const int HEIGHT = 48;
const int CELL = 256;

#define CHECK(call)                                                                            \
    do {                                                                                       \
        hipError_t error = (call);                                                            \
        if (error != hipSuccess) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));     \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

struct Grain {
    int x, y;            // position, CELL to a cell
    int vx, vy;          // velocity, per step
    int mass;            // 1 to 15
    unsigned id;         // its number at the start
};

struct Sums {
    int mass, px, py;    // of all grains
};

struct Signature {
    unsigned bits;       // exclusive or over all warps
    unsigned levels;     // sum over all warps of the number of the highest bit, counted from 1
};

const int GRAVITY = 5;
// The host

unsigned next(unsigned* state)                               // Numerical Recipes' generator; the upper bits are good
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

std::vector<Grain> make_grains(int n, unsigned seed)
{
    std::vector<Grain> grains(n);
    unsigned state = seed;
    for (int i = 0; i < n; i++) {
        Grain& g = grains[i];
        g.x = next(&state) % (WIDTH * CELL);
        g.y = next(&state) % (HEIGHT * CELL);
        g.vx = (int)(next(&state) % 512) - 256;
        g.vy = (int)(next(&state) % 512) - 256;
        g.mass = 1 + next(&state) % 15;
        g.id = i;
    }
    return grains;
}

std::vector<int> make_wind()
{
    std::vector<int> wind(WIDTH * HEIGHT);
    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH; column++) {
            int dx = column - WIDTH / 2, dy = row - HEIGHT / 3;
            wind[row * WIDTH + column] = 2 * (dx * dx + 2 * dy * dy) + 40 * (column % 7);
        }
    return wind;
}


int main(int argc, char** argv)
{
    int n = atoi(argv[1]), steps = atoi(argv[2]);
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    unsigned table[SALTS], state = 12345;
    for (int k = 0; k < SALTS; k++) table[k] = next(&state) * 257u;
    std::vector<Grain> g = make_grains(n, seed);
    std::vector<int> wind = make_wind();
    auto at = [&](int c, int r) { c = c < 0 ? 0 : c >= WIDTH ? WIDTH - 1 : c; r = r < 0 ? 0 : r >= HEIGHT ? HEIGHT - 1 : r; return wind[r * WIDTH + c]; };
    for (int step = 1; step <= steps; step++) {
        std::vector<Grain> left;
        for (Grain e : g) {
            int c = e.x / CELL, r = e.y / CELL;
            int ax = at(c - 1, r) - at(c + 1, r), ay = at(c, r - 1) - at(c, r + 1);
            e.vx += ax / e.mass; e.vy += ay / e.mass + 5; e.x += e.vx; e.y += e.vy;
            if (e.y < 0) { e.y = -e.y; e.vy = -e.vy; }
            if (0 <= e.x && e.x < WIDTH * CELL && 0 <= e.y && e.y < HEIGHT * CELL) left.push_back(e);
        }
        g = left; n = g.size();
        if (!n) { printf("step %d: nothing is left\n", step); break; }
        int bins[BINS] = {}; Sums s = {}; unsigned bits = 0, levels = 0;
        for (int w = 0; w < n; w += 32) {
            unsigned all = 0;
            for (int i = w; i < n && i < w + 32; i++) {
                Grain& e = g[i];
                bins[e.x / CELL * BINS / WIDTH]++; s.mass += e.mass; s.px += e.mass * e.vx; s.py += e.mass * e.vy;
                unsigned b = e.id * 2654435761u ^ (unsigned)e.x * 40503u ^ (unsigned)e.y * 9973u ^ table[w / 32 % SALTS];
                int by = i % 32;
                all ^= by ? b << by | b >> (32 - by) : b;
            }
            bits ^= all;
            levels += all ? 32 - __builtin_clz(all) : 0;
        }
        printf("step %d: %d grains, mass %d, momentum %d %d\n", step, n, s.mass, s.px, s.py);
        printf("  stripes");
        for (int k = 0; k < BINS; k++) printf(" %d", bins[k]);
        printf("\n  signature %08x %u\n", bits, levels);
    }
    return 0;
}
