// Tensor cores through mma.h and through inline assembly.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <typename In, typename Out, int M, int N, int K, typename LayoutA, typename LayoutB>
__device__ void multiply(const In* a, const In* b, Out* c, int ld) {
  wmma::fragment<wmma::matrix_a, M, N, K, In, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, In, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Out> fc;
  wmma::load_matrix_sync(fc, c, ld, wmma::mem_row_major);
  wmma::load_matrix_sync(fa, a, ld);
  wmma::load_matrix_sync(fb, b, ld);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
  wmma::store_matrix_sync(c, fc, ld, wmma::mem_col_major);
}

extern "C" __global__ void half_tiles(const __half* a, const __half* b, float* c, __half* h, int ld) {
  multiply<__half, float, 16, 16, 16, wmma::row_major, wmma::col_major>(a, b, c, ld);
  multiply<__half, __half, 32, 8, 16, wmma::col_major, wmma::row_major>(a, b, h, ld);
  __shared__ alignas(32) __half tile[256];
  multiply<__half, float, 8, 32, 16, wmma::row_major, wmma::row_major>(tile, tile, c, 16);
}

extern "C" __global__ void byte_tiles(const signed char* a, const unsigned char* u, int* c, int ld) {
  multiply<signed char, int, 16, 16, 16, wmma::row_major, wmma::col_major>(a, a, c, ld);
  multiply<unsigned char, int, 32, 8, 16, wmma::col_major, wmma::col_major>(u, u, c, ld);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void brain_tiles(const __nv_bfloat16* a, float* c, int ld) {
  multiply<__nv_bfloat16, float, 16, 16, 16, wmma::row_major, wmma::row_major>(a, a, c, ld);
}

extern "C" __global__ void double_tiles(const double* a, double* c, int ld) {
  multiply<double, double, 8, 8, 4, wmma::row_major, wmma::col_major>(a, a, c, ld);
}

extern "C" __global__ void tf32_tiles(const float* a, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, a, 8);
  wmma::load_matrix_sync(fb, a, 16);
  for (int i = 0; i < fa.num_elements; i++) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void staged(const uint4* a, const unsigned* b, float* c) {
  __shared__ alignas(16) unsigned tile[1024];
  unsigned at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 4), r[4];
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(a + threadIdx.x) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(at + 2048), "l"(b), "r"(4) : "memory");
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group %0;" :: "n"(0) : "memory");
  __syncthreads();
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1]) : "r"(at) : "memory");
  float d[4] = {c[0], c[1], c[2], c[3]};
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(b[0]), "r"(b[1]));
  int e[4] = {1, 2, 3, 4};
  asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%0,%1,%2,%3};" : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(b[2]), "r"(b[3]));
  asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
      "{%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "r"(b[8]));
  for (int i = 0; i < 4; i++) c[threadIdx.x * 4 + i] = d[i] + e[i];
}
#endif

#if __CUDA_ARCH__ >= 890
extern "C" __global__ void eights(const unsigned* a, float* c) {
  float d[4] = {0, 0, 0, 0};
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]));
  c[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
#endif
