// Half and brain floats, alone and in pairs, and the floats of 8 bits.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void half_scalars(__half* p, float* f, int* n) {
  int i = threadIdx.x;
  __half a = p[i], b = p[i + 1];
  p[i] = a * b + __hfma(a, b, __float2half(0.5f)) - __hmax(a, b) / b;
  p[i + 2] = hsqrt(a) + hexp(b) + hsin(a) + __habs(b) + hrint(a) + htanh(b);
  f[i] = __half2float(a) + (float)__hgt(a, b) + __high2float(__halves2half2(a, b));
  n[i] = __half2int_rz(a) + __half_as_short(b) + __hisnan(a);
  p[i + 3] = __int2half_rn(n[i]);
}

extern "C" __global__ void half_pairs(__half2* p) {
  int i = threadIdx.x;
  __half2 a = p[i], b = p[i + 1];
  p[i] = __hfma2(a, b, __hadd2(a, b)) - __hmin2(a, b);
  p[i + 1] = h2exp2(a) * __lowhigh2highlow(b) + __hfma2_relu(a, b, a);
  p[i + 2] = __hgt2(a, b) + __halves2half2(__low2half(a), __high2half(b)) + __hneg2(a);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void brain_scalars(__nv_bfloat16* p, float* f) {
  int i = threadIdx.x;
  __nv_bfloat16 a = p[i], b = p[i + 1];
  p[i] = a * b + __hfma(a, b, a) - __hmin(a, b) + __float2bfloat16_rz(f[i]);
  f[i] = __bfloat162float(a) + __hlt(a, b);
}

extern "C" __global__ void brain_pairs(__nv_bfloat162* p, float2* f) {
  int i = threadIdx.x;
  p[i] = __hfma2(p[i], p[i + 1], __hmax2(p[i], p[i + 2])) + __float22bfloat162_rn(f[i]);
  f[i + 1] = __bfloat1622float2(p[i]);
}
#endif

extern "C" __global__ void half_atomics(__half2* p, __nv_bfloat162* q, __half* h) {
  int i = threadIdx.x;
  atomicAdd(p + i, p[i + 1]);
  atomicAdd(q + i, q[i + 1]);
  atomicAdd(h + i, h[i + 1]);
}

extern "C" __global__ void eights(__nv_fp8_e4m3* a, __nv_fp8x2_e5m2* b, __nv_fp8x4_e4m3* c, float4* f) {
  int i = threadIdx.x;
  a[i] = __nv_fp8_e4m3(float(a[i + 1]) * 2.f);
  b[i] = __nv_fp8x2_e5m2(make_float2(f[i].x, f[i].y));
  c[i] = __nv_fp8x4_e4m3(f[i]);
  float4 back = float4(c[i + 1]);
  f[i + 1] = back;
}
