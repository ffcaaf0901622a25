// Trains a small perceptron (2-16-16-3, softmax cross entropy, Adam) on three spirals, on the GPU and,
// with the same numbers, on the host; both must reach the same loss and a good accuracy.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <vector>
using namespace std;

#define CK(x) do { if (hipError_t e_ = x) { printf("%s -> %s\n", #x, hipGetErrorString(e_)); exit(1); } } while (0)

typedef float scalar;

struct Adam { scalar rate, b1, b2, eps; };

__global__ void forward(const scalar* in, const scalar* w, const scalar* b, scalar* out, int n, int ni, int no, bool relu)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * no) return;
    int s = i / no, o = i % no;
    scalar z = b[o];
    for (int k = 0; k < ni; k++) z += in[s * ni + k] * w[o * ni + k];
    out[i] = relu && z < 0 ? 0 : z;
}

__global__ void loss_gradient(const scalar* logits, const int* label, scalar* grad, scalar* loss, int n, int classes)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= n) return;
    scalar m = logits[s * classes], sum = 0;
    for (int c = 1; c < classes; c++) m = max(m, logits[s * classes + c]);
    for (int c = 0; c < classes; c++) sum += exp(logits[s * classes + c] - m);
    for (int c = 0; c < classes; c++)
        grad[s * classes + c] = (exp(logits[s * classes + c] - m) / sum - (c == label[s])) / n;
    loss[s] = log(sum) - (logits[s * classes + label[s]] - m);
}

__global__ void backward_input(const scalar* grad, const scalar* w, const scalar* activation, scalar* out, int n, int ni, int no)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * ni) return;
    int s = i / ni, k = i % ni;
    scalar g = 0;
    for (int o = 0; o < no; o++) g += grad[s * no + o] * w[o * ni + k];
    out[i] = activation[i] > 0 ? g : 0;
}

// one block per weight (column ni is the bias)
__global__ void backward_weights(const scalar* grad, const scalar* in, scalar* dw, scalar* db, int n, int ni, int no)
{
    extern __shared__ scalar part[];
    int o = blockIdx.x, k = blockIdx.y;
    scalar g = 0;
    for (int s = threadIdx.x; s < n; s += blockDim.x) g += grad[s * no + o] * (k < ni ? in[s * ni + k] : scalar(1));
    part[threadIdx.x] = g;
    for (int w = blockDim.x / 2; w; w >>= 1) {
        __syncthreads();
        if ((int)threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
    }
    if (threadIdx.x == 0) (k < ni ? dw[o * ni + k] : db[o]) = part[0];
}

__global__ void adam(scalar* w, const scalar* g, scalar* m, scalar* v, int n, Adam a, int t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = a.b1 * m[i] + (1 - a.b1) * g[i];
    v[i] = a.b2 * v[i] + (1 - a.b2) * g[i] * g[i];
    w[i] -= a.rate * (m[i] / (1 - powf(a.b1, t))) / (sqrtf(v[i] / (1 - powf(a.b2, t))) + a.eps);
}

struct Array {
    scalar* d = nullptr;
    size_t n = 0;
    explicit Array(size_t n_) : n(n_) { CK(hipMalloc(&d, n * sizeof(scalar))); CK(hipMemset(d, 0, n * sizeof(scalar))); }
    explicit Array(const vector<scalar>& h) : Array(h.size()) { CK(hipMemcpy(d, h.data(), n * sizeof(scalar), hipMemcpyHostToDevice)); }
    Array(Array&& o) noexcept : d(o.d), n(o.n) { o.d = nullptr; }
    ~Array() { if (d) (void)hipFree(d); }
    vector<scalar> host() const { vector<scalar> h(n); CK(hipMemcpy(h.data(), d, n * sizeof(scalar), hipMemcpyDeviceToHost)); return h; }
    operator scalar*() const { return d; }
};

struct Layer {
    int ni, no;
    Array w, b, dw, db, mw, vw, mb, vb, out, grad;
    Layer(int i, int o, int n, const vector<scalar>& init) : ni(i), no(o), w(init), b(o), dw(i * o), db(o), mw(i * o), vw(i * o), mb(o), vb(o), out(n * o), grad(n * o) {}
};

static int blocks(int n) { return (n + 127) / 128; }

int main(int argc, char** argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 60, per_class = 50, classes = 3, n = per_class * classes;
    const Adam a = {0.02f, 0.9f, 0.999f, 1e-8f};
    mt19937 gen(5);
    normal_distribution<scalar> normal(0, 1);
    vector<scalar> x;
    vector<int> y;
    for (int c = 0; c < classes; c++)
        for (int i = 0; i < per_class; i++) {
            scalar r = scalar(i + 1) / per_class, angle = 2.094395f * c + 2.5f * r + 0.08f * normal(gen);
            x.push_back(2 * r * sin(angle)); x.push_back(2 * r * cos(angle));
            y.push_back(c);
        }
    const int sizes[] = {2, 16, 16, classes};
    vector<vector<scalar>> init;
    for (int l = 0; l < 3; l++) {
        init.emplace_back(sizes[l] * sizes[l + 1]);
        for (auto& w : init.back()) w = normal(gen) * sqrt(2.0f / sizes[l]);
    }
    Array dx(x), loss(n);
    int* dy;
    CK(hipMalloc(&dy, n * sizeof(int)));
    CK(hipMemcpy(dy, y.data(), n * sizeof(int), hipMemcpyHostToDevice));
    vector<unique_ptr<Layer>> net;
    for (int l = 0; l < 3; l++) net.push_back(make_unique<Layer>(sizes[l], sizes[l + 1], n, init[l]));
    scalar first = 0, last = 0;
    for (int t = 1; t <= steps; t++) {
        for (int l = 0; l < 3; l++)
            forward<<<blocks(n * net[l]->no), 128>>>(l ? net[l - 1]->out : dx, net[l]->w, net[l]->b, net[l]->out, n, net[l]->ni, net[l]->no, l < 2);
        loss_gradient<<<blocks(n), 128>>>(net[2]->out, dy, net[2]->grad, loss, n, classes);
        if (t == 1 || t == steps) {
            auto h = loss.host();
            (t == 1 ? first : last) = accumulate(h.begin(), h.end(), scalar(0)) / n;
        }
        for (int l = 2; l >= 0; l--) {
            backward_weights<<<dim3(net[l]->no, net[l]->ni + 1), 64, 64 * sizeof(scalar)>>>(net[l]->grad, l ? net[l - 1]->out : dx, net[l]->dw, net[l]->db, n, net[l]->ni, net[l]->no);
            if (l) backward_input<<<blocks(n * net[l]->ni), 128>>>(net[l]->grad, net[l]->w, net[l - 1]->out, net[l - 1]->grad, n, net[l]->ni, net[l]->no);
        }
        for (auto& l : net) {
            adam<<<blocks(l->w.n), 128>>>(l->w, l->dw, l->mw, l->vw, l->w.n, a, t);
            adam<<<blocks(l->b.n), 128>>>(l->b, l->db, l->mb, l->vb, l->b.n, a, t);
        }
        CK(hipGetLastError());
    }
    auto logits = net[2]->out.host();
    int right = 0;
    for (int s = 0; s < n; s++) right += max_element(&logits[s * classes], &logits[s * classes] + classes) - &logits[s * classes] == y[s];

    // the host, in double
    vector<vector<double>> w(3), b(3), mw(3), vw(3), mb(3), vb(3);
    for (int l = 0; l < 3; l++) { w[l].assign(init[l].begin(), init[l].end()); b[l].assign(sizes[l + 1], 0); mw[l] = vw[l] = vector<double>(w[l].size()); mb[l] = vb[l] = b[l]; }
    double host_last = 0;
    for (int t = 1; t <= steps; t++) {
        vector<vector<double>> act(4);
        act[0].assign(x.begin(), x.end());
        for (int l = 0; l < 3; l++) {
            act[l + 1].resize(n * sizes[l + 1]);
            for (int s = 0; s < n; s++) for (int o = 0; o < sizes[l + 1]; o++) {
                double z = b[l][o];
                for (int k = 0; k < sizes[l]; k++) z += act[l][s * sizes[l] + k] * w[l][o * sizes[l] + k];
                act[l + 1][s * sizes[l + 1] + o] = l < 2 && z < 0 ? 0 : z;
            }
        }
        vector<double> g(n * classes);
        host_last = 0;
        for (int s = 0; s < n; s++) {
            double sum = 0;
            for (int c = 0; c < classes; c++) sum += exp(act[3][s * classes + c]);
            for (int c = 0; c < classes; c++) g[s * classes + c] = (exp(act[3][s * classes + c]) / sum - (c == y[s])) / n;
            host_last += (log(sum) - act[3][s * classes + y[s]]) / n;
        }
        for (int l = 2; l >= 0; l--) {
            const int ni = sizes[l], no = sizes[l + 1];
            vector<double> gw(w[l].size()), gb(no), gi(n * ni);
            for (int s = 0; s < n; s++) for (int o = 0; o < no; o++) {
                gb[o] += g[s * no + o];
                for (int k = 0; k < ni; k++) { gw[o * ni + k] += g[s * no + o] * act[l][s * ni + k]; gi[s * ni + k] += g[s * no + o] * w[l][o * ni + k]; }
            }
            if (l) for (int i = 0; i < n * ni; i++) if (act[l][i] <= 0) gi[i] = 0;
            auto update = [&](vector<double>& p, vector<double>& gr, vector<double>& m, vector<double>& v) {
                for (size_t i = 0; i < p.size(); i++) {
                    m[i] = a.b1 * m[i] + (1 - (double)a.b1) * gr[i];
                    v[i] = a.b2 * v[i] + (1 - (double)a.b2) * gr[i] * gr[i];
                    p[i] -= a.rate * (m[i] / (1 - pow(a.b1, t))) / (sqrt(v[i] / (1 - pow(a.b2, t))) + a.eps);
                }
            };
            update(w[l], gw, mw[l], vw[l]);
            update(b[l], gb, mb[l], vb[l]);
            g = gi;
        }
    }
    printf("loss %.5f -> %.5f (host %.5f), accuracy %d of %d\n", first, last, host_last, right, n);
    CK(hipFree(dy));
    const bool good = fabs(last - host_last) < 0.01 * host_last + 1e-3 && last < 0.5 * first && right > n * 0.8;
    puts(good ? "PASS" : "FAIL");
    return !good;
}
