// Atomics of every type and scope, fences, and what waits.

extern "C" __global__ void integers(int* p, unsigned* u, unsigned long long* q) {
  int i = threadIdx.x;
  atomicAdd(p, i); atomicSub(p + 1, i); atomicMin(p + 2, i); atomicMax(p + 3, i);
  atomicAnd(p + 4, i); atomicOr(p + 5, i); atomicXor(p + 6, i); atomicExch(p + 7, i);
  u[i] = atomicInc(u, 100) + atomicDec(u + 1, 50) + atomicMin(u + 2, 7u) + atomicCAS(u + 3, 1u, 2u);
  q[i] = atomicAdd(q, 3ull) + atomicMax(q + 1, 4ull) + atomicCAS(q + 2, 5ull, 6ull);
  atomicXor(q + 3, 7ull);
}

extern "C" __global__ void floats(float* f, double* d) {
  int i = threadIdx.x;
  f[i] = atomicAdd(f, 1.f) + atomicExch(f + 1, 2.f);
  d[i] = atomicAdd(d, 1.);
}

extern "C" __global__ void scopes(int* p, double* d) {
  int i = threadIdx.x;
  atomicAdd_block(p, i); atomicAdd_system(p + 1, i); atomicCAS_block(p + 2, 1, 2);
  atomicMax_system(p + 3, i); atomicAdd_system(d, 1.); atomicExch_block(p + 4, i);
}

extern "C" __global__ void in_shared(int* p, const float* f) {
  __shared__ int counts[64];
  __shared__ float sum;
  __shared__ unsigned long long big;
  int i = threadIdx.x;
  counts[i & 63] = 0;
  if (i == 0) { sum = 0; big = 0; }
  __syncthreads();
  atomicAdd(counts + (p[i] & 63), 1);
  atomicAdd(&sum, f[i]);
  atomicAdd(&big, 3ull);
  atomicMin(counts + 1, i);
  __syncthreads();
  p[i] = counts[i & 63] + (int)sum + (int)big;
}

// A maximum of floats, which the hardware does not have, by compare and swap.
extern "C" __global__ void by_loop(float* p, const float* q) {
  unsigned* at = (unsigned*)p;
  unsigned seen = *at, assumed;
  float v = q[threadIdx.x];
  do {
    assumed = seen;
    if (__uint_as_float(assumed) >= v) break;
    seen = atomicCAS(at, assumed, __float_as_uint(v));
  } while (seen != assumed);
}

extern "C" __global__ void fences(volatile int* p, int* q) {
  int i = threadIdx.x;
  q[i] = 1; __threadfence(); p[i] = 1;
  q[i] = 2; __threadfence_block(); p[i + 1] = 2;
  q[i] = 3; __threadfence_system(); p[i + 2] = 3;
  while (p[i + 3] == 0) __nanosleep(64);
}

extern "C" __global__ void spin_lock(int* lock, int* value) {
  if (threadIdx.x == 0) {
    while (atomicExch(lock, 1)) {}
    __threadfence();
    *value += blockIdx.x;
    __threadfence();
    atomicExch(lock, 0);
  }
}

#if __CUDA_ARCH__ >= 700
extern "C" __global__ void ordered(int* p, unsigned long long* q) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  asm volatile("st.release.sys.global.b32 [%0], %1;" :: "l"(p + 1), "r"(v) : "memory");
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(p + 2) : "memory");
  asm volatile("red.relaxed.cta.global.add.u64 [%0], 1;" :: "l"(q) : "memory");
  asm volatile("fence.sc.gpu; fence.acq_rel.sys;" ::: "memory");
  p[3] = v;
}
#endif
