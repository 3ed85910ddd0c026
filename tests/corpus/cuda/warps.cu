// What the lanes of a warp do together, and the barriers of a CTA.

extern "C" __global__ void shuffles(int* p, float* f, double* d, unsigned long long* q) {
  int i = threadIdx.x;
  p[i] = __shfl_sync(~0u, p[i], 3) + __shfl_up_sync(~0u, p[i], 1) + __shfl_down_sync(~0u, p[i], 4, 8);
  f[i] = __shfl_xor_sync(~0u, f[i], 16);
  d[i] = __shfl_xor_sync(0xffffu, d[i], 2, 16);
  q[i] = __shfl_sync(~0u, q[i], i ^ 1);
}

extern "C" __global__ void votes(int* p, unsigned* u) {
  int i = threadIdx.x;
  u[i] = __ballot_sync(~0u, p[i] > 3) + __all_sync(~0u, p[i]) + __any_sync(~0u, p[i] < 0);
  u[i + 1] = __uni_sync(~0u, p[i]) + __popc(__activemask() & ((1u << (i & 31)) - 1));
  __syncwarp();
  __syncwarp(0xffu);
}

extern "C" __global__ void matches(int* p, unsigned long long* q, unsigned* u) {
  int i = threadIdx.x, all;
  u[i] = __match_any_sync(~0u, p[i]) + __match_all_sync(~0u, q[i], &all);
  p[i] = all;
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reductions(int* p, unsigned* u) {
  int i = threadIdx.x;
  p[i] = __reduce_add_sync(~0u, p[i]) + __reduce_min_sync(~0u, p[i]) + __reduce_max_sync(~0u, p[i]);
  u[i] = __reduce_and_sync(~0u, u[i]) + __reduce_or_sync(~0u, u[i]) ^ __reduce_xor_sync(~0u, u[i]);
}
#endif

extern "C" __global__ void barriers(int* p) {
  int i = threadIdx.x;
  __syncthreads();
  p[i] = __syncthreads_count(p[i]) + __syncthreads_and(p[i] > 1) + __syncthreads_or(p[i] < 0);
  if (i < 64) asm volatile("bar.arrive 1, 128;" ::: "memory");
  else asm volatile("bar.sync 1, 128;" ::: "memory");
  asm volatile("barrier.sync 2;" ::: "memory");
}

extern "C" __global__ void reduce(const float* x, float* out, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

extern "C" __global__ void special(unsigned* u, unsigned long long* q) {
  int i = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z;
  u[i] = blockIdx.y * gridDim.z + warpSize + clock();
  q[i] = clock64();
  unsigned lane, sm, mask;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(q[i + 1]));
  u[i + 1] = lane + sm + mask;
}
