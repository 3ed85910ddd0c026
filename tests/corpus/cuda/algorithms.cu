// Kernels as people write them.

#define TILE 16

extern "C" __global__ void sgemm(const float* __restrict__ a, const float* __restrict__ b, float* c, int m,
                                 int n, int k, float alpha, float beta) {
  __shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0;
  for (int t = 0; t < k; t += TILE) {
    as[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0.f;
    bs[y][x] = column < n && t + y < k ? b[(t + y) * n + column] : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; i++) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = alpha * sum + (beta == 0 ? 0 : beta * c[row * n + column]);
}

extern "C" __global__ void softmax(float* x, int n) {
  float* row = x + (long long)blockIdx.x * n;
  float largest = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) largest = fmaxf(largest, row[i]);
  for (int d = 16; d; d >>= 1) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
  for (int i = threadIdx.x; i < n; i += 32) sum += row[i] = __expf(row[i] - largest);
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  for (int i = threadIdx.x; i < n; i += 32) row[i] /= sum;
}

extern "C" __global__ void bitonic(int* p) {
  __shared__ int s[512];
  int i = threadIdx.x;
  s[i] = p[i];
  __syncthreads();
  for (int size = 2; size <= 512; size <<= 1)
    for (int stride = size >> 1; stride; stride >>= 1) {
      int other = i ^ stride;
      if (other > i && (s[i] > s[other]) == !(i & size)) { int t = s[i]; s[i] = s[other]; s[other] = t; }
      __syncthreads();
    }
  p[i] = s[i];
}

extern "C" __global__ void histogram(const unsigned char* bytes, unsigned* counts, unsigned long long n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(local + bytes[i], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) if (local[i]) atomicAdd(counts + i, local[i]);
}

extern "C" __global__ void scan(const int* in, int* out, int n) {
  extern __shared__ int temp[];
  int i = threadIdx.x, from = 0;
  temp[i] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    int to = from ^ 1;
    temp[to * n + i] = temp[from * n + i] + (i >= d ? temp[from * n + i - d] : 0);
    from = to;
    __syncthreads();
  }
  if (i < n) out[i] = temp[from * n + i];
}

extern "C" __global__ void sparse(const int* rows, const int* columns, const double* values, const double* x,
                                  double* y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double sum = 0;
  for (int j = rows[row]; j < rows[row + 1]; j++) sum += values[j] * x[columns[j]];
  y[row] = sum;
}

extern "C" __global__ void bodies(const float4* at, float4* force, int n) {
  __shared__ float4 tile[128];
  float4 me = at[blockIdx.x * 128 + threadIdx.x], sum = make_float4(0, 0, 0, 0);
  for (int t = 0; t < n; t += 128) {
    tile[threadIdx.x] = at[t + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; j++) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-9f), s = tile[j].w * r * r * r;
      sum.x += dx * s; sum.y += dy * s; sum.z += dz * s;
    }
    __syncthreads();
  }
  force[blockIdx.x * 128 + threadIdx.x] = sum;
}

extern "C" __global__ void mandelbrot(unsigned char* out, int width, int height, double scale) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, steps = 0;
  if (x >= width || y >= height) return;
  double cr = (x - width / 2) * scale, ci = (y - height / 2) * scale, r = 0, i = 0;
  while (r * r + i * i < 4 && steps < 255) { double t = r * r - i * i + cr; i = 2 * r * i + ci; r = t; steps++; }
  out[y * width + x] = steps;
}

extern "C" __global__ void random_walk(unsigned long long seed, float* out) {
  unsigned long long s = seed ^ (blockIdx.x * blockDim.x + threadIdx.x) * 0x9e3779b97f4a7c15ull;
  float at = 0;
  for (int i = 0; i < 1000; i++) {
    s ^= s << 13; s ^= s >> 7; s ^= s << 17;
    at += (s >> 40) * (1.f / (1 << 24)) - .5f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
