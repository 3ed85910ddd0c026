extern "C" __global__ __launch_bounds__(256, 2) void axpy(unsigned n, float a, const float* __restrict__ x, float* y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void vectors(const float4* x, float4* y, const double2* u, double2* v, const short4* s, long long* out) {
  int i = threadIdx.x;
  float4 a = x[i]; a.x += a.y; a.z *= a.w; y[i] = a;
  double2 b = u[i]; b.x += b.y; v[i] = b;
  short4 c = s[i]; out[i] = (long long)c.x * c.y + c.z % (c.w | 1);
}
extern "C" __global__ void integers(int* p, unsigned* q, long long* r, unsigned long long* s) {
  int i = threadIdx.x, a = p[i], b = p[i + 1];
  p[i] = a / b + a % b + __clz(a) + __popc(b) + __mulhi(a, b) + min(a, b) + (a >> (b & 31)) + __brev(a) + __byte_perm(a, b, 0x1234);
  q[i] = __umulhi(q[i], q[i + 1]) + __funnelshift_l(a, b, 3) + __usad(a, b, 7) + (unsigned)__ffs(a);
  r[i] = r[i] / r[i + 1] + __mul64hi(r[i], r[i + 2]) - llabs(r[i + 3]);
  s[i] = s[i] % s[i + 1] ^ __brevll(s[i]) | (s[i] << (i & 63));
}
extern "C" __global__ void floats(float* p, double* d, int* n) {
  int i = threadIdx.x;
  float x = p[i];
  p[i] = sqrtf(x) + rsqrtf(x) + __sinf(x) + __expf(x) + fmaf(x, 1e-3f, 1e20f) + fminf(x, -0.0f) + __fdividef(x, 3.0f) + x / 7.0f + rintf(x) + (float)n[i];
  d[i] = sqrt(d[i]) / d[i + 1] + fma(d[i], 0.1, 1e300) + __ddiv_rn(d[i], 3.0) + (double)x;
  n[i] = (int)x + __float_as_int(x) + (int)floorf(x) + isnan(x) + __float2int_rn(x);
}
extern "C" __global__ void trigonometry(float* p, double* d) { int i = threadIdx.x; p[i] = sinf(p[i]) + expf(p[i]) + powf(p[i], 2.5f); d[i] = sin(d[i]); }
