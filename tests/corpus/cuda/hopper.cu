// Bulk copies, mbarriers, wgmma, tcgen05: what inline assembly alone reaches.

#if __CUDA_ARCH__ >= 900

struct alignas(64) Map { char opaque[128]; };

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra WAIT;\n"
      "}\n" :: "r"(barrier), "r"(parity) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) bulk(const __grid_constant__ Map map, float* out) {
  __shared__ alignas(128) float tile[64 * 32];
  __shared__ alignas(8) unsigned long long full;
  unsigned barrier = shared_address(&full), at = shared_address(tile);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 8192;" :: "r"(barrier) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(at), "l"(&map), "r"(0), "r"(64), "r"(barrier) : "memory");
  }
  wait(barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x];
  tile[threadIdx.x] = 2.f;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;"
                 :: "l"(out), "r"(at) : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
                 " [%0, {%1, %2}], [%3];" :: "l"(&map), "r"(0), "r"(0), "r"(at) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

extern "C" __global__ void __cluster_dims__(2) remote(int* p) {
  __shared__ alignas(8) unsigned long long full;
  __shared__ int slot;
  unsigned barrier = shared_address(&full), rank, there, mine = shared_address(&slot), theirs;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(barrier), "r"(rank ^ 1));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(mine), "r"(rank ^ 1));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4;" :: "r"(barrier) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 :: "r"(theirs), "r"(p[0]), "r"(there) : "memory");
  }
  wait(barrier, 0);
  p[threadIdx.x] = slot;
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
}

extern "C" __global__ void elected(int* p) {
  unsigned leader;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(leader));
  if (leader) p[0] = 1;
}

#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
extern "C" __global__ void __launch_bounds__(256, 1) warpgroups(float* out, unsigned long long a) {
  float d[4] = {0, 0, 0, 0};
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(a + 2), "r"(0));
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) :: "memory");
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  }
}
#endif
