extern "C" __global__ void scopes(int* p, unsigned long long* q, float* f) {
  int i = threadIdx.x, a = p[i], b;
  asm volatile("{ .reg .pred p; .reg .b32 r1, %%t<3>; setp.gt.s32 p, %1, 3; mov.b32 %%t1, 5; @p add.s32 %0, %1, %%t1; @!p mov.b32 %0, 0; }" : "=r"(b) : "r"(a));
  asm volatile("{\n .reg .b32 r1;\n .reg .pred p, q;\n setp.ne.s32 q, %1, 0;\n setp.lt.or.s32 p|q, %1, 7, q;\n selp.b32 r1, %1, 9, p;\n {\n .reg .f32 r1;\n mov.f32 r1, 0f3F800000;\n st.global.f32 [%2], r1;\n }\n mov.b32 %0, r1;\n}\n" : "=r"(a) : "r"(b), "l"(f));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(a), "=r"(b) : "l"(q[i]));
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(a) : "r"(a), "r"(b));
  asm("bfe.u32 %0, %1, 3, 5; // a comment in the middle\n lop3.b32 %0, %0, %1, 1, 0xe8;" : "+r"(a) : "r"(b));
  asm volatile("prefetch.global.L2 [%0+-128];" :: "l"(q));
  p[i] = a + b;
}
