target triple = "nvptx64-nvidia-cuda"
@table = internal addrspace(1) constant [4 x i32] [i32 1, i32 -2, i32 3, i32 4], align 4
@link = addrspace(1) global ptr addrspacecast (ptr addrspace(1) getelementptr ([4 x i32], ptr addrspace(1) @table, i64 0, i64 2) to ptr), align 8
@packed = addrspace(1) global <{ i8, ptr, i16 }> <{ i8 1, ptr addrspacecast (ptr addrspace(1) @table to ptr), i16 7 }>, align 1
@tile = internal addrspace(3) global [64 x float] undef, align 16
@outside = external addrspace(3) global [0 x i8], align 16
declare i32 @helper(i32, ptr)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
define internal { i32, float } @pair(i32 %a, <4 x float> %v) noinline {
  %e = extractelement <4 x float> %v, i32 2
  %r = insertvalue { i32, float } undef, i32 %a, 0
  %s = insertvalue { i32, float } %r, float %e, 1
  ret { i32, float } %s
}
define ptx_kernel void @kernel(ptr addrspace(1) align 16 %p, i32 %n, half %h, i8 signext %c) "nvvm.maxntid"="128" {
entry:
  %slot = alloca [4 x i32], align 4
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  switch i32 %n, label %other [ i32 0, label %zero i32 1, label %one i32 2, label %two i32 3, label %three i32 4, label %four i32 5, label %five ]
zero:
  store i32 1, ptr addrspace(1) %p
  ret void
one:
  %at = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %tid
  store float 1.5, ptr addrspace(3) %at
  call void @llvm.nvvm.barrier0()
  %f = load float, ptr addrspace(3) getelementptr ([64 x float], ptr addrspace(3) @tile, i32 0, i32 3)
  store float %f, ptr addrspace(1) %p
  ret void
two:
  %v = load <4 x float>, ptr addrspace(1) %p, align 16
  %r = call { i32, float } @pair(i32 %tid, <4 x float> %v)
  %r0 = extractvalue { i32, float } %r, 0
  store i32 %r0, ptr addrspace(1) %p
  ret void
three:
  %q = getelementptr [4 x i32], ptr %slot, i32 0, i32 %tid
  store i32 %tid, ptr %q
  %s = load volatile i32, ptr %slot
  store i32 %s, ptr addrspace(1) %p
  ret void
four:
  %hh = fadd half %h, 1.0
  store half %hh, ptr addrspace(1) %p
  %old = atomicrmw add ptr addrspace(1) %p, i32 3 seq_cst
  ret void
five:
  %d = sext i8 %c to i64
  store i64 %d, ptr addrspace(1) %p
  %x = cmpxchg ptr addrspace(1) %p, i32 3, i32 4 acq_rel monotonic
  ret void
other:
  %g = load ptr, ptr addrspace(1) @link
  %i = load i32, ptr %g
  store i32 %i, ptr addrspace(1) %p
  ret void
}
