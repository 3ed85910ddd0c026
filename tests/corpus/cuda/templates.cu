// Templates, lambdas, constant expressions, launch bounds, and parameters of every shape.

template <typename T, int N>
struct Vector {
  T v[N];
  __device__ T& operator[](int i) { return v[i]; }
  __device__ Vector operator+(const Vector& o) const {
    Vector r;
#pragma unroll
    for (int i = 0; i < N; i++) r.v[i] = v[i] + o.v[i];
    return r;
  }
};

template <typename T, int N>
__global__ void sum(Vector<T, N>* a, const Vector<T, N>* b) {
  a[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
template __global__ void sum<float, 4>(Vector<float, 4>*, const Vector<float, 4>*);
template __global__ void sum<double, 3>(Vector<double, 3>*, const Vector<double, 3>*);
template __global__ void sum<unsigned char, 5>(Vector<unsigned char, 5>*, const Vector<unsigned char, 5>*);

template <typename... Ts>
__device__ auto total(Ts... ts) { return (ts + ... + 0); }

template <typename F>
__device__ void repeat(int n, F f) { for (int i = 0; i < n; i++) f(i); }

extern "C" __global__ void lambdas(int* p, int n) {
  int sum = 0;
  repeat(n, [&](int i) { sum += p[i] * total(1, 2ll, (short)3, i); });
  auto twice = [](int x) { return 2 * x; };
  p[threadIdx.x] = twice(sum);
}

__device__ constexpr int power(int base, int exponent) {
  return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

template <bool Guard>
__global__ void guarded(float* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if constexpr (Guard) { if (i >= n) return; }
  p[i] = p[i] * power(3, 4);
}
template __global__ void guarded<true>(float*, int);
template __global__ void guarded<false>(float*, int);

extern "C" __global__ __launch_bounds__(256, 2) void bounded(float* p) { p[threadIdx.x] *= 2; }

extern "C" __global__ __maxnreg__(32) void thrifty(float* p) {
  p[threadIdx.x] += 1;
}

enum class Mode : unsigned char { Add, Multiply };
struct Nested { struct { char a; double b; } inner[2]; Mode mode; };

extern "C" __global__ void parameters(bool flag, char c, short s, int i, long long l, float f, double d,
                                      Mode mode, Nested nested, float3 v, const void* p, int* out) {
  double r = flag ? c + s : i + l;
  r = mode == Mode::Add ? r + f : r * d;
  out[threadIdx.x] = (int)(r + nested.inner[i & 1].b + (int)nested.mode + v.z + *(const char*)p);
}

extern "C" __global__ void nothing() {}
