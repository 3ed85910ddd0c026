// Jumps, tables of jumps, calls by name and by pointer, recursion, objects, traps, printf.

#ifdef __CUDACC_RTC__
extern "C" __device__ int printf(const char*, ...);
#else
#include <stdio.h>
#endif

extern "C" __global__ void cases(int* p, const int* which) {
  int i = threadIdx.x, v = p[i];
  switch (which[i]) {
    case 0: v += 3; break;
    case 1: v *= 7; break;
    case 2: v ^= p[i + 1];
    case 3: v = p[v & 31]; break;
    case 4: v -= 5; break;
    case 5: atomicAdd(p, 3); break;
    case 6: v = __popc(v); break;
    case 7: v = -v; break;
    case 8: __nanosleep(20); break;
    case 12: return;
    default: __trap();
  }
  p[i] = v;
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(int* p) { p[threadIdx.x] = fibonacci(p[threadIdx.x]); }

__device__ __noinline__ bool is_odd(unsigned n);
__device__ __noinline__ bool is_even(unsigned n) { return n == 0 ? true : is_odd(n - 1); }
__device__ __noinline__ bool is_odd(unsigned n) { return n == 0 ? false : is_even(n - 1); }

extern "C" __global__ void mutual(unsigned* p) { p[threadIdx.x] = is_even(p[threadIdx.x]); }

typedef float (*Binary)(float, float);
__device__ __noinline__ float plus(float a, float b) { return a + b; }
__device__ __noinline__ float minus(float a, float b) { return a - b; }
__device__ __noinline__ float times(float a, float b) { return a * b; }
__device__ Binary table[3] = {plus, minus, times};

extern "C" __global__ void by_pointer(float* p, const int* which) {
  int i = threadIdx.x;
  p[i] = table[which[i] % 3](p[i], p[i + 1]);
}

struct Animal {
  __device__ virtual int legs(int bonus) const = 0;
  __device__ virtual ~Animal() {}
};
struct Cat : Animal {
  int extra;
  __device__ Cat(int e) : extra(e) {}
  __device__ int legs(int bonus) const override { return 4 + extra * bonus; }
};
struct Bird : Animal {
  __device__ int legs(int bonus) const override { return 2 - bonus; }
};

extern "C" __global__ void objects(int* p, int k) {
  Cat cat(p[0]);
  Bird bird;
  const Animal* animal = p[threadIdx.x] & 1 ? (const Animal*)&cat : (const Animal*)&bird;
  p[threadIdx.x] = animal->legs(k);
}

struct Wide { double x[3]; int n; char c; };
struct alignas(16) Aligned { float a, b, c, d; };
__device__ __noinline__ Wide widen(Wide w, char c, short s, bool flag) {
  w.x[w.n & 1] += c;
  w.n = flag ? s : w.n;
  return w;
}
__device__ __noinline__ Aligned swap(Aligned v) { return {v.d, v.c, v.b, v.a}; }
__device__ __noinline__ void fill(int* out, int count) {
  for (int i = 0; i < count; i++) out[i] = i * i;
}

extern "C" __global__ void structures(Wide* w, Aligned* v, int k) {
  int i = threadIdx.x, local[8];
  w[i] = widen(w[i], (char)k, (short)i, k > 3);
  v[i] = swap(v[i]);
  fill(local, k & 7);
  w[i].n += local[k & 3];
}

extern "C" __global__ void loops(int* p, int n) {
  int i = threadIdx.x, sum = 0;
  for (int a = 0; a < n; a++) {
    if (p[a] == i) continue;
    for (int b = a; b < n; b += 3) {
      if (p[b] < 0) goto out;
      sum += p[a] * p[b];
    }
    do { sum >>= 1; } while (sum > 1000);
  }
out:
#pragma unroll 1
  while (sum > p[i]) sum -= p[i] | 1;
  p[i] = sum;
}

extern "C" __global__ void prints(const float* p, int n) {
  if (threadIdx.x == 0) printf("%d of %d: %f %s %lld\n", 3, n, p[0], "text \"quoted\"\t", 1ll << n);
}

extern "C" __global__ void gives_up(int* p) {
  if (p[threadIdx.x] < 0) __trap();
  if (p[threadIdx.x] == 77) __brkpt();
  if (p[threadIdx.x] > 99) { asm volatile("exit;"); }
  p[threadIdx.x] = 1;
  __builtin_assume(p[0] > 0);
}
