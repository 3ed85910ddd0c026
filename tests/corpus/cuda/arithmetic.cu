// Integers of every width, floating point in every rounding, the mathematical library.

extern "C" __global__ void division(long long* a, unsigned long long* b, int* c, short* d) {
  int i = threadIdx.x;
  a[i] = a[i] / a[i + 1] + a[i] % a[i + 2];
  b[i] = b[i] / b[i + 1] ^ b[i] % b[i + 2];
  c[i] = c[i] / c[i + 1] + c[i] % 7 + (unsigned)c[i] / 10u;
  d[i] = d[i] / d[i + 1];
}

extern "C" __global__ void bits(unsigned* p, unsigned long long* q) {
  int i = threadIdx.x;
  unsigned a = p[i], b = p[i + 1];
  p[i] = __popc(a) + __clz(b) + __ffs(a) + __brev(b) + __byte_perm(a, b, 0x3715);
  p[i + 2] = __funnelshift_l(a, b, 5) ^ __funnelshift_rc(a, b, b) ^ ((a & b) | (~a & p[i + 3]));
  q[i] = __popcll(q[i]) + __clzll(q[i]) + __ffsll(q[i]) + __brevll(q[i]) + (q[i] << (a & 63));
  q[i + 1] = (q[i] >> (b & 63)) | ((unsigned long long)a << 32);
}

extern "C" __global__ void products(int* p, long long* q, unsigned* u) {
  int i = threadIdx.x;
  q[i] = (long long)p[i] * p[i + 1] + __mul64hi(q[i], q[i + 1]);
  p[i] = __mulhi(p[i], p[i + 1]) + __mul24(p[i], 77) + __sad(p[i], p[i + 1], u[i]);
  u[i] = __umulhi(u[i], u[i + 1]) + __umul24(u[i], u[i + 1]) + __usad(u[i], 3u, 4u);
  p[i + 2] = __dp4a(p[i], p[i + 1], p[i + 2]) + __dp2a_lo(p[i], p[i + 1], 5);
  p[i + 3] = __hadd(p[i], p[i + 1]) + __rhadd(p[i], p[i + 1]) + abs(p[i]) + max(p[i], 3);
}

extern "C" __global__ void packed_video(unsigned* p) {
  int i = threadIdx.x;
  unsigned a = p[i], b = p[i + 1];
  p[i] = __vadd4(a, b) ^ __vabsdiffu4(a, b) ^ __vmaxs2(a, b) ^ __vcmpgtu4(a, b) ^ __vsadu4(a, b);
  p[i + 2] = __vavgu4(a, b) ^ __vsetltu2(a, b) ^ __vnegss2(a) ^ __vaddus4(a, b);
}

extern "C" __global__ void rounded(float* p, double* q, int* n) {
  int i = threadIdx.x;
  float a = p[i], b = p[i + 1];
  p[i] = __fadd_rz(a, b) + __fmul_ru(a, b) + __fmaf_rd(a, b, 1.f) + __fdiv_rn(a, b) + __fsqrt_rz(a);
  q[i] = __dadd_ru(q[i], q[i + 1]) + __dmul_rz(q[i], 3.) + __fma_rd(q[i], 2., 1.) + __dsqrt_rn(q[i]);
  n[i] = __float2int_rz(a) + __float2int_ru(b) + __double2int_rd(q[i]) + lrintf(a);
  p[i + 2] = __int2float_rz(n[i]) + __double2float_ru(q[i]) + __ll2float_rd((long long)n[i] << 20);
  q[i + 1] = (double)(unsigned long long)q[i] + (double)(n[i] & 255) + (double)a;
}

extern "C" __global__ void saturated(float* p, unsigned char* c, short* s) {
  int i = threadIdx.x;
  p[i] = __saturatef(p[i]) + fminf(p[i], p[i + 1]) + fmaxf(p[i], -0.f) + copysignf(p[i], p[i + 1]);
  c[i] = (unsigned char)p[i];
  s[i] = (short)(c[i] * s[i] >> 3);
}

extern "C" __global__ void fast_math(float* p) {
  int i = threadIdx.x;
  float x = p[i];
  p[i] = __sinf(x) + __cosf(x) + __expf(x) + __logf(x) + __powf(x, 1.5f) + __fdividef(x, 7.f);
  p[i + 1] = __frcp_rn(x) + rsqrtf(x) + __tanf(x) + exp2f(x) + log2f(x) + __frsqrt_rn(x);
}

extern "C" __global__ void mathematics(float* p, double* q) {
  int i = threadIdx.x;
  p[i] = sinf(p[i]) + tanhf(p[i]) + erff(p[i]) + cbrtf(p[i]) + powf(p[i], 2.5f) + fmodf(p[i], 3.f);
  q[i] = exp(q[i]) + log1p(q[i]) + atan2(q[i], 2.) + pow(q[i], .25) + floor(q[i]) + fmod(q[i], 7.);
  int e = 0;
  q[i + 1] = frexp(q[i], &e) + ldexp(q[i], e) + hypot(q[i], 3.) + lgamma(q[i]) + rint(q[i]);
}

extern "C" __global__ void classes(float* p, int* n, double* q) {
  int i = threadIdx.x;
  n[i] = isnan(p[i]) + isinf(p[i]) + signbit(p[i]) + (p[i] < p[i + 1]) + !(p[i] >= q[i]);
  n[i + 1] = (q[i] != q[i]) + isfinite(q[i]) + __float_as_int(p[i]);
  q[i] = __longlong_as_double(__double_as_longlong(q[i]) ^ 1) + __hiloint2double(n[i], n[i + 1]);
}
