// Every state space, initialisers, pointers among variables, vectors, caches, copies.

struct Config { int a; short b; double c; const char* name; int more[3]; };

__constant__ float weights[8] = {1.0f, -2.5f, 0.1f, 3e10f, 0, 1e-40f, 2, 3};
__constant__ Config config = {7, -3, 2.5, "configured", {1, 2}};
__constant__ int matrix[3][4] = {{1, 2, 3, 4}, {5, 6}, {7}};
__device__ int counter = 42;
__device__ int grid[3][4] = {{1, 2}, {3}};
__device__ int* into_grid = &grid[1][2];
__device__ int** to_pointer = &into_grid;
__device__ unsigned char bytes[] = {0, 255, 128, 7, 65};
__device__ long long large[2] = {-1, 0x7fffffffffffffffll};
__device__ double half = 0.5;
__device__ volatile int flag;
__device__ __managed__ float managed = 1.5f;
static __device__ short hidden[4] = {-1, 2, -3, 4};
extern __shared__ __align__(16) unsigned char dynamic[];

extern "C" __global__ void constants(float* out, int n) {
  int i = threadIdx.x;
  out[i] = weights[i & 7] + config.a + config.b + (float)config.c + config.name[n] + matrix[n][i & 3];
}

extern "C" __global__ void globals(int* out) {
  int i = threadIdx.x;
  counter += i;
  grid[i % 3][i & 3] = **to_pointer;
  bytes[i % 5] ^= hidden[i & 3];
  large[i & 1] -= out[i];
  half *= managed;
  while (!flag) {}
  out[i] = counter + *into_grid;
}

extern "C" __global__ void shared_memory(float* out, int n) {
  __shared__ float tile[32][33];
  __shared__ alignas(128) double aligned[16];
  __shared__ struct { char c; int n; short s; } record;
  float* first = (float*)dynamic;
  double* second = (double*)(dynamic + 1024);
  int i = threadIdx.x;
  if (i == 0) record = {1, n, 3};
  tile[i][i & 31] = out[i];
  aligned[i & 15] = out[i + 1];
  first[i] = out[i + 2];
  second[i] = n;
  __syncthreads();
  out[i] = tile[i & 31][i] + aligned[(i + 1) & 15] + first[i ^ 1] + second[i ^ 3] + record.n;
}

extern "C" __global__ void local_arrays(int* p, int n) {
  int values[64];
  for (int i = 0; i < 64; i++) values[i] = p[i * n];
  for (int i = 1; i < n; i++) values[p[i] & 63] += values[i & 63];
  p[threadIdx.x] = values[n & 63];
}

extern "C" __global__ void generic_pointers(float* p, int n) {
  __shared__ float s[64];
  float l[64];
  l[threadIdx.x & 63] = p[n];
  s[threadIdx.x & 63] = p[n + 1];
  float* which = n == 0 ? s : n == 1 ? l : p;
  which[threadIdx.x & 63] += 1.f;
  p[0] = l[n & 63] + s[n & 63] + (__isShared(which) ? 1 : __isLocal(which) ? 2 : 3);
}

extern "C" __global__ void vectors(const float4* a, float4* b, double2* c, short4* d, uchar2* e,
                                   longlong2* f) {
  int i = threadIdx.x;
  float4 v = a[i];
  b[i] = make_float4(v.w, v.z * v.x, v.y, 0.f);
  c[i].x += c[i].y;
  d[i] = make_short4(d[i].w, d[i].x, 7, -1);
  e[i].y = e[i].x;
  f[i].x ^= f[i].y;
}

extern "C" __global__ void caches(const int* __restrict__ p, int* q, float4* v) {
  int i = threadIdx.x;
  q[i] = __ldg(p + i) + __ldcg(p + i) + __ldcs(p + i) + __ldca(p + i) + __ldlu(p + i) + __ldcv(p + i);
  __stcg(q + i, 1); __stcs(q + i, 2); __stwt(q + i, 3); __stwb(q + i, 4);
  v[i] = __ldcs(v + i);
}

struct __attribute__((packed)) Packed { char c; int n; double d; };
union Bits { float f; unsigned u; struct { unsigned mantissa : 23, exponent : 8, sign : 1; }; };

extern "C" __global__ void layouts(Packed* p, Bits* b) {
  int i = threadIdx.x;
  p[i].n += p[i].c;
  p[i].d *= 2;
  b[i].exponent += 1;
  b[i].sign = 0;
}

extern "C" __global__ void copies(Config* a, const Config* b, char* c) {
  *a = *b;
  memcpy(c, b, 100);
  memset(c + 100, 7, 64);
  Config kept = *a;
  kept.more[c[0] & 1] = 3;
  *a = kept;
}

extern "C" __global__ void by_value(const __grid_constant__ Config given, int* out, Config other) {
  const Config* where = &given;
  other.more[out[0] & 1] += 2;
  out[threadIdx.x] = where->more[threadIdx.x % 3] + other.more[1] + other.b;
}
