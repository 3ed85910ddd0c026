#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <cuda_pipeline.h>
using namespace nvcuda;
extern "C" __global__ void half_math(__half2* p, __nv_bfloat162* q, __half* h) {
  int i = threadIdx.x;
  p[i] = __hfma2(p[i], p[i + 1], __float2half2_rn(1.5f)); q[i] = __hadd2(q[i], q[i + 1]); h[i] = hsqrt(h[i]) + __float2half(2.f) * h[i + 1]; h[i + 2] = __hmax(h[i], h[i + 1]);
}
extern "C" __global__ void wmma_tile(const __half* a, const __half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa; wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc; wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, b, 16); wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
extern "C" __global__ void mma_tile(const unsigned* a, const unsigned* b, float* c) {
  int i = threadIdx.x; __shared__ __align__(16) unsigned s[512];
  unsigned at = (unsigned)__cvta_generic_to_shared(s + i * 4), r0, r1, r2, r3;
  __pipeline_memcpy_async(s + i * 4, a + i * 4, 16); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c[i]), "+f"(c[i+1]), "+f"(c[i+2]), "+f"(c[i+3]) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(b[i]), "r"(b[i+1]));
}
