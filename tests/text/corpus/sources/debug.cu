__device__ __noinline__ int step(int* p, short k) { int local[2] = {k, 3}; return p[local[k & 1] & 7]; }
extern "C" __global__ void debugged(int* p) { p[0] = step(p, (short)p[1]); }
