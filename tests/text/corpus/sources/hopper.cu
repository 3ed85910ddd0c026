extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) clusters(const __grid_constant__ int scale, float* p) {
  __shared__ float s[128];
  unsigned at = (unsigned)__cvta_generic_to_shared(s + threadIdx.x), there, rank; float v;
  s[threadIdx.x] = p[threadIdx.x];
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank ^ 1));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there));
  p[threadIdx.x] = v * scale;
}
struct __align__(64) Map { char opaque[128]; };
extern "C" __global__ void bulk(const __grid_constant__ Map map, float* out) {
  __shared__ __align__(128) float tile[64 * 64]; __shared__ __align__(8) unsigned long long full;
  unsigned bar = (unsigned)__cvta_generic_to_shared(&full), dst = (unsigned)__cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar)); asm volatile("fence.proxy.async.shared::cta;"); }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(16384));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :: "r"(dst), "l"(&map), "r"(0), "r"(64), "r"(bar) : "memory");
  }
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" :: "r"(bar), "r"(0));
  out[threadIdx.x] = tile[threadIdx.x];
  float d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(1ull), "l"(2ull), "r"(1));
  asm volatile("wgmma.commit_group.sync.aligned;"); asm volatile("wgmma.wait_group.sync.aligned 0;");
  out[threadIdx.x + 128] = d[0] + d[1] + d[2] + d[3];
}
