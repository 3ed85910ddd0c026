__constant__ float weights[8] = {1.0f, -2.5f, 0.1f, 3e10f, 0, 1, 2, 3};
__constant__ struct { int a; short b; double c; const char* name; } config = {7, -3, 2.5, "configured"};
__device__ int counter = 42;
__device__ int table[3][4] = {{1, 2, 3, 4}, {5, 6}, {7}};
__device__ int* pointer = &table[1][2];
__device__ unsigned char bytes[] = {0, 255, 128, 7, 65};
__device__ __managed__ float managed = 1.5f;
extern __shared__ __align__(16) float dynamic[];
extern "C" __global__ void memory(float* out, int n) {
  __shared__ float tile[32][33];
  __shared__ __align__(128) double aligned[16];
  float local[16];
  int i = threadIdx.x;
  for (int k = 0; k < 16; k++) local[k] = out[k * n + i];
  tile[i][i & 31] = out[i] * weights[i & 7];
  aligned[i & 15] = tile[i & 31][(i + 1) & 31];
  dynamic[i] = local[(i * 7) & 15];
  __syncthreads();
  out[i] = tile[(i + 3) & 31][i & 31] + (float)aligned[i & 7] + dynamic[i ^ 1] + local[n & 15] + config.a + config.b + config.name[i & 7] + managed;
  atomicAdd(&counter, 1); atomicCAS(&table[1][1], 3, i); atomicMax(pointer, i); atomicExch((unsigned long long*)out, 5ULL);
  atomicAdd(out, 1.0f); bytes[i & 3] += 1;
}
extern "C" __global__ void warps(int* p, unsigned* q) {
  int i = threadIdx.x;
  int v = __shfl_xor_sync(0xffffffff, p[i], 16) + __shfl_down_sync(0xffffffff, p[i], 4, 8);
  unsigned b = __ballot_sync(0xffffffff, v > 3) + __activemask() + __all_sync(0xffffffff, v) ;
  q[i] = b + __match_any_sync(0xffffffff, v) + __reduce_add_sync(0xffffffff, b);
  __threadfence(); __threadfence_block(); __threadfence_system(); __syncwarp(); __nanosleep(100);
  q[i + 1] = __syncthreads_count(v) + __ldg(q + 5) + __ldcg(q + 6) + clock() ;
}
