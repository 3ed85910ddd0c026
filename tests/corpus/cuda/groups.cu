// Cooperative groups: threads, tiles, coalesced lanes, clusters, asynchronous copies.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void block_and_tiles(int* p) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int v = p[block.thread_rank()];
  for (int d = 4; d; d /= 2) v += tile.shfl_xor(v, d);
  if (tile.any(v > 100)) v = tile.ballot(v & 1);
  block.sync();
  p[block.thread_rank()] = v + tile.meta_group_rank();
}

extern "C" __global__ void coalesced(int* counter, int* p) {
  if (p[threadIdx.x] > 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
    p[threadIdx.x] = active.shfl(first, 0) + active.thread_rank();
  }
}

extern "C" __global__ void split(int* p) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto some = cg::binary_partition(warp, p[threadIdx.x] > 3);
  p[threadIdx.x] = some.size() * 100 + some.thread_rank();
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) clusters(float* p) {
  __shared__ float mine[128];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = p[threadIdx.x];
  cluster.sync();
  float* theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  p[threadIdx.x] = theirs[threadIdx.x] + cluster.num_blocks();
  cluster.sync();
}
#endif
