"""PTX texts that several tests use."""

LOOP = """\
.version 8.0
.target sm_90
.address_size 64

.visible .entry total(.param .u64 p, .param .u32 n)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<4>;
    .reg .pred %p<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, 0;
    mov.f32 %f1, 0f00000000;
    setp.gt.u32 %p3, %r1, 7;
main:
    .pragma "nounroll";
    @%p3 ld.global.f32 %f2, [%rd2];
    fma.rn.f32 %f1, %f2, %f2, %f1;
    add.s64 %rd2, %rd2, 4;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, %r1;
    @%p2 bra main;
    cvta.to.global.u64 %rd3, %rd1;
    st.global.f32 [%rd3], %f1;
    ret;
}
"""
"""One loop, named main, on lines 17 to 24: one predicated load and one fma."""

TWO_KERNELS = """\
.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 r) twice(.param .b32 a)
{
    .local .align 8 .b8 buffer[64];
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.b32 %r1, [a];
    mov.u64 %rd1, buffer;
    cvta.local.u64 %rd1, %rd1;
    st.volatile.u32 [%rd1+4], %r1;
    ld.volatile.u32 %r2, [%rd1];
    st.param.b32 [r], %r2;
    ret;
}
.visible .entry first(.param .u64 p)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    .shared .align 4 .b8 words[1024];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    st.shared.u32 [words], %r1;
    bar.sync 3;
    {
        .param .b32 x;
        .param .b32 y;
        st.param.b32 [x], %r1;
        call.uni (y), twice, (x);
        ld.param.b32 %r2, [y];
    }
    ld.shared.u32 %r3, [words+4];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry second()
{
    ret;
}
"""
"""`first`: 1024 bytes of shared memory, a called function with 64 bytes of stack, barrier 3."""


def spilling(values: int = 64) -> str:
    """A kernel that keeps so many values alive that ``.maxnreg 24`` makes it spill."""
    loads = "\n".join(f"ld.volatile.global.u32 %r{i}, [%rd1+{4 * i}];" for i in range(values))
    stores = "\n".join(f"st.volatile.global.u32 [%rd1+{4 * i}], %r{i};" for i in range(values))
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry spilling(.param .u64 p) .maxnreg 24\n{\n"
        f".reg .b32 %r<{values}>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
        f"{loads}\n{stores}\nret;\n}}\n"
    )


def wgmma_touched() -> str:
    """wgmma whose accumulator is read before the wait: ptxas injects one and says C7517."""
    accumulators = ", ".join(f"%f{i}" for i in range(32))
    zeros = "\n".join(f"mov.f32 %f{i}, 0f00000000;" for i in range(32))
    stores = "\n".join(f"st.global.f32 [%rd1+{4 * i}], %f{i};" for i in range(32))
    return f"""\
.version 8.0
.target sm_90a
.address_size 64
.visible .entry touched(.param .u64 p, .param .u64 d)
{{
.reg .f32 %f<33>;
.reg .b64 %rd<3>;
ld.param.u64 %rd1, [p];
ld.param.u64 %rd2, [d];
{zeros}
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{accumulators}}}, %rd2, %rd2, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
add.f32 %f0, %f0, 0f3F800000;
wgmma.wait_group.sync.aligned 0;
{stores}
ret;
}}
"""
