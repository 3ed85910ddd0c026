#include <assert.h>
#include <stdio.h>
struct Big { float a[5]; int b; };
struct __align__(16) Aligned { double x; float y; };
__device__ __noinline__ Big twice(Big in, int k, char c) { for (float& v : in.a) v *= 2 * k; in.b += c; return in; }
__device__ __noinline__ float inner(const float* p, short s, bool b) { return b ? p[s] : 0.f; }
__device__ __noinline__ Aligned mix(Aligned a, double d) { a.x += d; a.y -= 1; return a; }
typedef float (*Unary)(float);
__device__ __noinline__ float half_of(float x) { return x * 0.5f; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ Unary unaries[2] = {half_of, square};
extern "C" __global__ void calls(Big* b, float* p, Aligned* a, int k) {
  int i = threadIdx.x;
  b[i] = twice(b[i], k, (char)i);
  p[i] = inner(p, (short)k, k > 3) + unaries[k & 1](p[i]);
  a[i] = mix(a[i], 2.0);
  if (k < 0) printf("thread %d of %f\n", i, p[i]);
}
extern "C" __global__ void choose(int* p, int k) {
  int i = threadIdx.x;
  switch (k) {
    case 0: p[i] = 3; break; case 1: p[i] *= 7; break; case 2: p[i] ^= p[i + 1]; break; case 3: p[i] = p[p[i]]; break;
    case 4: p[i] -= 5; break; case 5: atomicAdd(p, 3); break; case 6: p[i] = __popc(p[i]); break; case 7: p[i] = -p[i]; break;
    default: __trap();
  }
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recursion(int* p) { p[threadIdx.x] = fib(p[threadIdx.x]); }
struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape { float s; __device__ float area() const override { return s * s; } };
struct Disc : Shape { float r; __device__ float area() const override { return r * r * 3.14f; } };
extern "C" __global__ void objects(float* p, int k) { Square q; q.s = p[0]; Disc d; d.r = p[1]; Shape* s = k ? (Shape*)&q : (Shape*)&d; p[2] = s->area(); void* m = malloc(16); free(m); assert(true); }
