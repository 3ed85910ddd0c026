"""The builder as editors and mypy see it, written by tools/generate_stub.py."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ptx.emission import SpellingError as SpellingError
from ptx.errors import Place, PtxError
from ptx.ir import SINK as SINK
from ptx.ir import Function, Item, Label, Not, Reg, Special, Symbol

class _abs_bf16:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...

class _abs_ftz:
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16

class _abs:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _abs_ftz
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16

class _activemask:
    b32: _abs_bf16

class _add_cc:
    s32: _abs_bf16
    s64: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _add_f32:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...
    bf16: _abs_bf16
    f16: _abs_bf16

class _add_ftz:
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f32x2: _abs_bf16
    sat: _abs_ftz

class _add_rm_ftz_sat:
    f32: _abs_bf16

class _add_rm_ftz:
    f32: _abs_bf16
    f32x2: _abs_bf16
    sat: _add_rm_ftz_sat

class _add_rm_sat:
    f32: _add_f32

class _add_rm:
    f32: _add_f32
    f32x2: _abs_bf16
    f64: _abs_bf16
    ftz: _add_rm_ftz
    sat: _add_rm_sat

class _add_rn_sat:
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _add_f32

class _add_rn:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _add_f32
    f32x2: _abs_bf16
    f64: _abs_bf16
    ftz: _add_ftz
    sat: _add_rn_sat

class _add_sat:
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _add_f32
    s32: _abs_bf16

class _add:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    cc: _add_cc
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _add_f32
    f32x2: _abs_bf16
    f64: _abs_bf16
    ftz: _add_ftz
    rm: _add_rm
    rn: _add_rn
    rp: _add_rm
    rz: _add_rm
    s16: _abs_bf16
    s16x2: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    sat: _add_sat
    u16: _abs_bf16
    u16x2: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _addc:
    cc: _add_cc
    s32: _abs_bf16
    s64: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _alloca:
    u32: _abs_bf16
    u64: _abs_bf16

class _and:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    pred: _abs_bf16

class _applypriority_L2__evict_normal:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...

class _applypriority_global:
    L2__evict_normal: _applypriority_L2__evict_normal

class _applypriority:
    L2__evict_normal: _applypriority_L2__evict_normal
    global_: _applypriority_global

class _atom_acq_rel_add_L2__cache_hint_v2_f32:
    def __call__(self, *sources: Any, out: Any = ...) -> tuple[Reg, ...]: ...

class _atom_acq_rel_add_L2__cache_hint_v2:
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _atom_acq_rel_add_L2__cache_hint:
    f32: _abs_bf16
    f64: _abs_bf16
    s32: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    v2: _atom_acq_rel_add_L2__cache_hint_v2
    v4: _atom_acq_rel_add_L2__cache_hint_v2

class _atom_acq_rel_add_noftz_L2__cache_hint_v2:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    bf16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _atom_acq_rel_add_noftz_L2__cache_hint_v8:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _atom_acq_rel_add_noftz_L2__cache_hint:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    v2: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v4: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v8: _atom_acq_rel_add_noftz_L2__cache_hint_v8

class _atom_acq_rel_add_noftz:
    L2__cache_hint: _atom_acq_rel_add_noftz_L2__cache_hint
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    v2: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v4: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v8: _atom_acq_rel_add_noftz_L2__cache_hint_v8

class _atom_acq_rel_add:
    L2__cache_hint: _atom_acq_rel_add_L2__cache_hint
    f32: _abs_bf16
    f64: _abs_bf16
    noftz: _atom_acq_rel_add_noftz
    s32: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    v2: _atom_acq_rel_add_L2__cache_hint_v2
    v4: _atom_acq_rel_add_L2__cache_hint_v2

class _atom_acq_rel_and_L2__cache_hint:
    b32: _abs_bf16
    b64: _abs_bf16

class _atom_acq_rel_and:
    L2__cache_hint: _atom_acq_rel_and_L2__cache_hint
    b32: _abs_bf16
    b64: _abs_bf16

class _atom_acq_rel_cas:
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16

class _atom_acq_rel_cluster_dec_L2__cache_hint:
    u32: _abs_bf16

class _atom_acq_rel_cluster_dec:
    L2__cache_hint: _atom_acq_rel_cluster_dec_L2__cache_hint
    u32: _abs_bf16

class _atom_acq_rel_cluster_exch_L2__cache_hint:
    b128: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16

class _atom_acq_rel_cluster_exch:
    L2__cache_hint: _atom_acq_rel_cluster_exch_L2__cache_hint
    b128: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16

class _atom_acq_rel_cluster_global_max_noftz_L2__cache_hint:
    v2: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v4: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v8: _atom_acq_rel_add_noftz_L2__cache_hint_v8

class _atom_acq_rel_cluster_global_max_noftz:
    L2__cache_hint: _atom_acq_rel_cluster_global_max_noftz_L2__cache_hint
    v2: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v4: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v8: _atom_acq_rel_add_noftz_L2__cache_hint_v8

class _atom_acq_rel_cluster_global_max:
    L2__cache_hint: _add_cc
    noftz: _atom_acq_rel_cluster_global_max_noftz
    s32: _abs_bf16
    s64: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _atom_acq_rel_cluster_global:
    add: _atom_acq_rel_add
    and_: _atom_acq_rel_and
    cas: _atom_acq_rel_cas
    dec: _atom_acq_rel_cluster_dec
    exch: _atom_acq_rel_cluster_exch
    inc: _atom_acq_rel_cluster_dec
    max: _atom_acq_rel_cluster_global_max
    min: _atom_acq_rel_cluster_global_max
    or_: _atom_acq_rel_and
    xor: _atom_acq_rel_and

class _atom_acq_rel_cluster_shared_add_noftz:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16

class _atom_acq_rel_cluster_shared_add:
    f32: _abs_bf16
    f64: _abs_bf16
    noftz: _atom_acq_rel_cluster_shared_add_noftz
    s32: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _atom_acq_rel_cluster_shared:
    add: _atom_acq_rel_cluster_shared_add
    and_: _atom_acq_rel_and_L2__cache_hint
    cas: _atom_acq_rel_cas
    dec: _atom_acq_rel_cluster_dec_L2__cache_hint
    exch: _atom_acq_rel_cluster_exch_L2__cache_hint
    inc: _atom_acq_rel_cluster_dec_L2__cache_hint
    max: _add_cc
    min: _add_cc
    or_: _atom_acq_rel_and_L2__cache_hint
    xor: _atom_acq_rel_and_L2__cache_hint

class _atom_acq_rel_cluster:
    add: _atom_acq_rel_add
    and_: _atom_acq_rel_and
    cas: _atom_acq_rel_cas
    dec: _atom_acq_rel_cluster_dec
    exch: _atom_acq_rel_cluster_exch
    global_: _atom_acq_rel_cluster_global
    inc: _atom_acq_rel_cluster_dec
    max: _atom_acq_rel_cluster_global_max
    min: _atom_acq_rel_cluster_global_max
    or_: _atom_acq_rel_and
    shared: _atom_acq_rel_cluster_shared
    shared__cluster: _atom_acq_rel_cluster_shared
    shared__cta: _atom_acq_rel_cluster_shared
    xor: _atom_acq_rel_and

class _atom_acq_rel:
    add: _atom_acq_rel_add
    and_: _atom_acq_rel_and
    cas: _atom_acq_rel_cas
    cluster: _atom_acq_rel_cluster
    cta: _atom_acq_rel_cluster
    dec: _atom_acq_rel_cluster_dec
    exch: _atom_acq_rel_cluster_exch
    global_: _atom_acq_rel_cluster_global
    gpu: _atom_acq_rel_cluster
    inc: _atom_acq_rel_cluster_dec
    max: _atom_acq_rel_cluster_global_max
    min: _atom_acq_rel_cluster_global_max
    or_: _atom_acq_rel_and
    shared: _atom_acq_rel_cluster_shared
    shared__cluster: _atom_acq_rel_cluster_shared
    shared__cta: _atom_acq_rel_cluster_shared
    sys: _atom_acq_rel_cluster
    xor: _atom_acq_rel_and

class _atom:
    acq_rel: _atom_acq_rel
    acquire: _atom_acq_rel
    add: _atom_acq_rel_add
    and_: _atom_acq_rel_and
    cas: _atom_acq_rel_cas
    cluster: _atom_acq_rel_cluster
    cta: _atom_acq_rel_cluster
    dec: _atom_acq_rel_cluster_dec
    exch: _atom_acq_rel_cluster_exch
    global_: _atom_acq_rel_cluster_global
    gpu: _atom_acq_rel_cluster
    inc: _atom_acq_rel_cluster_dec
    max: _atom_acq_rel_cluster_global_max
    min: _atom_acq_rel_cluster_global_max
    or_: _atom_acq_rel_and
    relaxed: _atom_acq_rel
    release: _atom_acq_rel
    shared: _atom_acq_rel_cluster_shared
    shared__cluster: _atom_acq_rel_cluster_shared
    shared__cta: _atom_acq_rel_cluster_shared
    sys: _atom_acq_rel_cluster
    xor: _atom_acq_rel_and

class _bar_cta_red_and:
    pred: _abs_bf16

class _bar_cta_red:
    and_: _bar_cta_red_and
    or_: _bar_cta_red_and
    popc: _atom_acq_rel_cluster_dec_L2__cache_hint

class _bar_cta:
    arrive: _applypriority_L2__evict_normal
    red: _bar_cta_red
    sync: _applypriority_L2__evict_normal

class _bar_warp:
    sync: _applypriority_L2__evict_normal

class _bar:
    arrive: _applypriority_L2__evict_normal
    cta: _bar_cta
    red: _bar_cta_red
    sync: _applypriority_L2__evict_normal
    warp: _bar_warp

class _barrier_arrive:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    aligned: _applypriority_L2__evict_normal

class _barrier_cluster_arrive:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    aligned: _applypriority_L2__evict_normal
    relaxed: _barrier_arrive
    release: _barrier_arrive

class _barrier_cluster_wait:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    acquire: _barrier_arrive
    aligned: _applypriority_L2__evict_normal

class _barrier_cluster:
    arrive: _barrier_cluster_arrive
    wait: _barrier_cluster_wait

class _barrier_cta_red_and:
    aligned: _bar_cta_red_and
    pred: _abs_bf16

class _barrier_cta_red_popc:
    aligned: _atom_acq_rel_cluster_dec_L2__cache_hint
    u32: _abs_bf16

class _barrier_cta_red:
    and_: _barrier_cta_red_and
    or_: _barrier_cta_red_and
    popc: _barrier_cta_red_popc

class _barrier_cta:
    arrive: _barrier_arrive
    red: _barrier_cta_red
    sync: _barrier_arrive

class _barrier:
    arrive: _barrier_arrive
    cluster: _barrier_cluster
    cta: _barrier_cta
    red: _barrier_cta_red
    sync: _barrier_arrive

class _bfind:
    s32: _abs_bf16
    s64: _abs_bf16
    shiftamt: _add_cc
    u32: _abs_bf16
    u64: _abs_bf16

class _bmsk:
    clamp: _activemask
    wrap: _activemask

class _bra:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    uni: _applypriority_L2__evict_normal

class _brx:
    idx: _bra

class _call_uni:
    def __call__(self, *sources: Any, out: Any = ...) -> Any: ...

class _call:
    def __call__(self, *sources: Any, out: Any = ...) -> Any: ...
    uni: _call_uni

class _clusterlaunchcontrol_query_cancel_get_first_ctaid_v4_b32:
    b128: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _clusterlaunchcontrol_query_cancel_get_first_ctaid_v4:
    b32: _clusterlaunchcontrol_query_cancel_get_first_ctaid_v4_b32

class _clusterlaunchcontrol_query_cancel_get_first_ctaid:
    v4: _clusterlaunchcontrol_query_cancel_get_first_ctaid_v4

class _clusterlaunchcontrol_query_cancel_get_first_ctaid__x_b32:
    b128: _abs_bf16

class _clusterlaunchcontrol_query_cancel_get_first_ctaid__x:
    b32: _clusterlaunchcontrol_query_cancel_get_first_ctaid__x_b32

class _clusterlaunchcontrol_query_cancel_is_canceled:
    pred: _clusterlaunchcontrol_query_cancel_get_first_ctaid__x_b32

class _clusterlaunchcontrol_query_cancel:
    get_first_ctaid: _clusterlaunchcontrol_query_cancel_get_first_ctaid
    get_first_ctaid__x: _clusterlaunchcontrol_query_cancel_get_first_ctaid__x
    get_first_ctaid__y: _clusterlaunchcontrol_query_cancel_get_first_ctaid__x
    get_first_ctaid__z: _clusterlaunchcontrol_query_cancel_get_first_ctaid__x
    is_canceled: _clusterlaunchcontrol_query_cancel_is_canceled

class _clusterlaunchcontrol_try_cancel_async_mbarrier__complete_tx__bytes_multicast__cluster__all:
    b128: _applypriority_L2__evict_normal

class _clusterlaunchcontrol_try_cancel_async_mbarrier__complete_tx__bytes:
    b128: _applypriority_L2__evict_normal
    multicast__cluster__all: _clusterlaunchcontrol_try_cancel_async_mbarrier__complete_tx__bytes_multicast__cluster__all

class _clusterlaunchcontrol_try_cancel_async_shared__cta:
    mbarrier__complete_tx__bytes: _clusterlaunchcontrol_try_cancel_async_mbarrier__complete_tx__bytes

class _clusterlaunchcontrol_try_cancel_async:
    mbarrier__complete_tx__bytes: _clusterlaunchcontrol_try_cancel_async_mbarrier__complete_tx__bytes
    shared__cta: _clusterlaunchcontrol_try_cancel_async_shared__cta

class _clusterlaunchcontrol_try_cancel:
    async_: _clusterlaunchcontrol_try_cancel_async

class _clusterlaunchcontrol:
    query_cancel: _clusterlaunchcontrol_query_cancel
    try_cancel: _clusterlaunchcontrol_try_cancel

class _cnot:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16

class _copysign:
    f32: _abs_bf16
    f64: _abs_bf16

class _cos_approx:
    f32: _abs_bf16
    ftz: _add_rm_ftz_sat

class _cos:
    approx: _cos_approx

class _cp_async_bulk_global_shared__cta_bulk_group_L2__cache_hint:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    cp_mask: _applypriority_L2__evict_normal

class _cp_async_bulk_global_shared__cta_bulk_group:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__cache_hint: _cp_async_bulk_global_shared__cta_bulk_group_L2__cache_hint
    cp_mask: _applypriority_L2__evict_normal

class _cp_async_bulk_global_shared__cta:
    bulk_group: _cp_async_bulk_global_shared__cta_bulk_group

class _cp_async_bulk_global:
    shared__cta: _cp_async_bulk_global_shared__cta

class _cp_async_bulk_prefetch_L2_global:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__cache_hint: _applypriority_L2__evict_normal

class _cp_async_bulk_prefetch_L2:
    global_: _cp_async_bulk_prefetch_L2_global

class _cp_async_bulk_prefetch_tensor_1d_L2_global:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__cache_hint: _applypriority_L2__evict_normal
    tile: _cp_async_bulk_prefetch_L2_global

class _cp_async_bulk_prefetch_tensor_1d_L2:
    global_: _cp_async_bulk_prefetch_tensor_1d_L2_global

class _cp_async_bulk_prefetch_tensor_1d:
    L2: _cp_async_bulk_prefetch_tensor_1d_L2

class _cp_async_bulk_prefetch_tensor_2d_L2_global:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__cache_hint: _applypriority_L2__evict_normal
    tile: _cp_async_bulk_prefetch_L2_global
    tile__gather4: _cp_async_bulk_prefetch_L2_global

class _cp_async_bulk_prefetch_tensor_2d_L2:
    global_: _cp_async_bulk_prefetch_tensor_2d_L2_global

class _cp_async_bulk_prefetch_tensor_2d:
    L2: _cp_async_bulk_prefetch_tensor_2d_L2

class _cp_async_bulk_prefetch_tensor_3d_L2_global:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__cache_hint: _applypriority_L2__evict_normal
    im2col: _cp_async_bulk_prefetch_L2_global
    im2col__w: _cp_async_bulk_prefetch_L2_global
    im2col__w__128: _cp_async_bulk_prefetch_L2_global
    tile: _cp_async_bulk_prefetch_L2_global

class _cp_async_bulk_prefetch_tensor_3d_L2:
    global_: _cp_async_bulk_prefetch_tensor_3d_L2_global

class _cp_async_bulk_prefetch_tensor_3d:
    L2: _cp_async_bulk_prefetch_tensor_3d_L2

class _cp_async_bulk_prefetch_tensor:
    _1d: _cp_async_bulk_prefetch_tensor_1d
    _2d: _cp_async_bulk_prefetch_tensor_2d
    _3d: _cp_async_bulk_prefetch_tensor_3d
    _4d: _cp_async_bulk_prefetch_tensor_3d
    _5d: _cp_async_bulk_prefetch_tensor_3d

class _cp_async_bulk_prefetch:
    L2: _cp_async_bulk_prefetch_L2
    tensor: _cp_async_bulk_prefetch_tensor

class _cp_async_bulk_shared__cluster_global_mbarrier__complete_tx__bytes:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__cache_hint: _applypriority_L2__evict_normal
    multicast__cluster: _cp_async_bulk_prefetch_L2_global

class _cp_async_bulk_shared__cluster_global:
    mbarrier__complete_tx__bytes: _cp_async_bulk_shared__cluster_global_mbarrier__complete_tx__bytes

class _cp_async_bulk_shared__cluster_shared__cta:
    mbarrier__complete_tx__bytes: _applypriority_L2__evict_normal

class _cp_async_bulk_shared__cluster:
    global_: _cp_async_bulk_shared__cluster_global
    shared__cta: _cp_async_bulk_shared__cluster_shared__cta

class _cp_async_bulk_shared__cta_global:
    mbarrier__complete_tx__bytes: _cp_async_bulk_prefetch_L2_global

class _cp_async_bulk_shared__cta:
    global_: _cp_async_bulk_shared__cta_global

class _cp_async_bulk_tensor_1d_global_shared__cta_tile:
    bulk_group: _cp_async_bulk_prefetch_L2_global

class _cp_async_bulk_tensor_1d_global_shared__cta:
    bulk_group: _cp_async_bulk_prefetch_L2_global
    tile: _cp_async_bulk_tensor_1d_global_shared__cta_tile

class _cp_async_bulk_tensor_1d_global:
    shared__cta: _cp_async_bulk_tensor_1d_global_shared__cta

class _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__cache_hint: _applypriority_L2__evict_normal
    cta_group__1: _cp_async_bulk_prefetch_L2_global
    cta_group__2: _cp_async_bulk_prefetch_L2_global

class _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__cache_hint: _applypriority_L2__evict_normal
    cta_group__1: _cp_async_bulk_prefetch_L2_global
    cta_group__2: _cp_async_bulk_prefetch_L2_global
    multicast__cluster: _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster

class _cp_async_bulk_tensor_1d_shared__cluster_global_tile:
    mbarrier__complete_tx__bytes: _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes

class _cp_async_bulk_tensor_1d_shared__cluster_global:
    mbarrier__complete_tx__bytes: _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes
    tile: _cp_async_bulk_tensor_1d_shared__cluster_global_tile

class _cp_async_bulk_tensor_1d_shared__cluster:
    global_: _cp_async_bulk_tensor_1d_shared__cluster_global

class _cp_async_bulk_tensor_1d_shared__cta_global_tile:
    mbarrier__complete_tx__bytes: _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster

class _cp_async_bulk_tensor_1d_shared__cta_global:
    mbarrier__complete_tx__bytes: _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster
    tile: _cp_async_bulk_tensor_1d_shared__cta_global_tile

class _cp_async_bulk_tensor_1d_shared__cta:
    global_: _cp_async_bulk_tensor_1d_shared__cta_global

class _cp_async_bulk_tensor_1d:
    global_: _cp_async_bulk_tensor_1d_global
    shared__cluster: _cp_async_bulk_tensor_1d_shared__cluster
    shared__cta: _cp_async_bulk_tensor_1d_shared__cta

class _cp_async_bulk_tensor_2d_global_shared__cta:
    bulk_group: _cp_async_bulk_prefetch_L2_global
    tile: _cp_async_bulk_tensor_1d_global_shared__cta_tile
    tile__scatter4: _cp_async_bulk_tensor_1d_global_shared__cta_tile

class _cp_async_bulk_tensor_2d_global:
    shared__cta: _cp_async_bulk_tensor_2d_global_shared__cta

class _cp_async_bulk_tensor_2d_shared__cluster_global:
    mbarrier__complete_tx__bytes: _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes
    tile: _cp_async_bulk_tensor_1d_shared__cluster_global_tile
    tile__gather4: _cp_async_bulk_tensor_1d_shared__cluster_global_tile

class _cp_async_bulk_tensor_2d_shared__cluster:
    global_: _cp_async_bulk_tensor_2d_shared__cluster_global

class _cp_async_bulk_tensor_2d_shared__cta_global:
    mbarrier__complete_tx__bytes: _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster
    tile: _cp_async_bulk_tensor_1d_shared__cta_global_tile
    tile__gather4: _cp_async_bulk_tensor_1d_shared__cta_global_tile

class _cp_async_bulk_tensor_2d_shared__cta:
    global_: _cp_async_bulk_tensor_2d_shared__cta_global

class _cp_async_bulk_tensor_2d:
    global_: _cp_async_bulk_tensor_2d_global
    shared__cluster: _cp_async_bulk_tensor_2d_shared__cluster
    shared__cta: _cp_async_bulk_tensor_2d_shared__cta

class _cp_async_bulk_tensor_3d_global_shared__cta:
    bulk_group: _cp_async_bulk_prefetch_L2_global
    im2col_no_offs: _cp_async_bulk_tensor_1d_global_shared__cta_tile
    tile: _cp_async_bulk_tensor_1d_global_shared__cta_tile

class _cp_async_bulk_tensor_3d_global:
    shared__cta: _cp_async_bulk_tensor_3d_global_shared__cta

class _cp_async_bulk_tensor_3d_shared__cluster_global:
    im2col: _cp_async_bulk_tensor_1d_shared__cluster_global_tile
    im2col__w: _cp_async_bulk_tensor_1d_shared__cluster_global_tile
    im2col__w__128: _cp_async_bulk_tensor_1d_shared__cluster_global_tile
    mbarrier__complete_tx__bytes: _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes
    tile: _cp_async_bulk_tensor_1d_shared__cluster_global_tile

class _cp_async_bulk_tensor_3d_shared__cluster:
    global_: _cp_async_bulk_tensor_3d_shared__cluster_global

class _cp_async_bulk_tensor_3d_shared__cta_global:
    im2col: _cp_async_bulk_tensor_1d_shared__cta_global_tile
    im2col__w: _cp_async_bulk_tensor_1d_shared__cta_global_tile
    im2col__w__128: _cp_async_bulk_tensor_1d_shared__cta_global_tile
    mbarrier__complete_tx__bytes: _cp_async_bulk_tensor_1d_shared__cluster_global_mbarrier__complete_tx__bytes_multicast__cluster
    tile: _cp_async_bulk_tensor_1d_shared__cta_global_tile

class _cp_async_bulk_tensor_3d_shared__cta:
    global_: _cp_async_bulk_tensor_3d_shared__cta_global

class _cp_async_bulk_tensor_3d:
    global_: _cp_async_bulk_tensor_3d_global
    shared__cluster: _cp_async_bulk_tensor_3d_shared__cluster
    shared__cta: _cp_async_bulk_tensor_3d_shared__cta

class _cp_async_bulk_tensor:
    _1d: _cp_async_bulk_tensor_1d
    _2d: _cp_async_bulk_tensor_2d
    _3d: _cp_async_bulk_tensor_3d
    _4d: _cp_async_bulk_tensor_3d
    _5d: _cp_async_bulk_tensor_3d

class _cp_async_bulk_wait_group:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    read: _applypriority_L2__evict_normal

class _cp_async_bulk:
    commit_group: _applypriority_L2__evict_normal
    global_: _cp_async_bulk_global
    prefetch: _cp_async_bulk_prefetch
    shared__cluster: _cp_async_bulk_shared__cluster
    shared__cta: _cp_async_bulk_shared__cta
    tensor: _cp_async_bulk_tensor
    wait_group: _cp_async_bulk_wait_group

class _cp_async_ca_shared_global_L2__cache_hint:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__128B: _applypriority_L2__evict_normal
    L2__256B: _applypriority_L2__evict_normal
    L2__64B: _applypriority_L2__evict_normal

class _cp_async_ca_shared_global:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    L2__128B: _applypriority_L2__evict_normal
    L2__256B: _applypriority_L2__evict_normal
    L2__64B: _applypriority_L2__evict_normal
    L2__cache_hint: _cp_async_ca_shared_global_L2__cache_hint

class _cp_async_ca_shared:
    global_: _cp_async_ca_shared_global

class _cp_async_ca:
    shared: _cp_async_ca_shared
    shared__cta: _cp_async_ca_shared

class _cp_async_mbarrier_arrive_noinc_shared:
    b64: _applypriority_L2__evict_normal

class _cp_async_mbarrier_arrive_noinc:
    b64: _applypriority_L2__evict_normal
    shared: _cp_async_mbarrier_arrive_noinc_shared
    shared__cta: _cp_async_mbarrier_arrive_noinc_shared

class _cp_async_mbarrier_arrive:
    b64: _applypriority_L2__evict_normal
    noinc: _cp_async_mbarrier_arrive_noinc
    shared: _cp_async_mbarrier_arrive_noinc_shared
    shared__cta: _cp_async_mbarrier_arrive_noinc_shared

class _cp_async_mbarrier:
    arrive: _cp_async_mbarrier_arrive

class _cp_async:
    bulk: _cp_async_bulk
    ca: _cp_async_ca
    cg: _cp_async_ca
    commit_group: _applypriority_L2__evict_normal
    mbarrier: _cp_async_mbarrier
    wait_all: _applypriority_L2__evict_normal
    wait_group: _applypriority_L2__evict_normal

class _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add_noftz:
    bf16: _applypriority_L2__evict_normal
    f16: _applypriority_L2__evict_normal

class _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add:
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    noftz: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add_noftz
    s32: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal

class _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and:
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal

class _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec:
    u32: _applypriority_L2__evict_normal

class _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_max:
    bf16: _applypriority_L2__evict_normal
    f16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal

class _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint:
    add: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add
    and_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    dec: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    inc: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    max: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_max
    min: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_max
    or_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    xor: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and

class _cp_reduce_async_bulk_global_shared__cta_bulk_group:
    L2__cache_hint: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint
    add: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add
    and_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    dec: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    inc: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    max: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_max
    min: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_max
    or_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    xor: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and

class _cp_reduce_async_bulk_global_shared__cta:
    bulk_group: _cp_reduce_async_bulk_global_shared__cta_bulk_group

class _cp_reduce_async_bulk_global:
    shared__cta: _cp_reduce_async_bulk_global_shared__cta

class _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_add:
    s32: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal

class _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_and:
    b32: _applypriority_L2__evict_normal

class _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_max:
    s32: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal

class _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes:
    add: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_add
    and_: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_and
    dec: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    inc: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    max: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_max
    min: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_max
    or_: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_and
    xor: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_and

class _cp_reduce_async_bulk_shared__cluster_shared__cta:
    mbarrier__complete_tx__bytes: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes

class _cp_reduce_async_bulk_shared__cluster:
    shared__cta: _cp_reduce_async_bulk_shared__cluster_shared__cta

class _cp_reduce_async_bulk_tensor_1d_global_shared__cta:
    add: _cp_async_bulk_tensor_1d_global_shared__cta
    and_: _cp_async_bulk_tensor_1d_global_shared__cta
    dec: _cp_async_bulk_tensor_1d_global_shared__cta
    inc: _cp_async_bulk_tensor_1d_global_shared__cta
    max: _cp_async_bulk_tensor_1d_global_shared__cta
    min: _cp_async_bulk_tensor_1d_global_shared__cta
    or_: _cp_async_bulk_tensor_1d_global_shared__cta
    xor: _cp_async_bulk_tensor_1d_global_shared__cta

class _cp_reduce_async_bulk_tensor_1d_global:
    shared__cta: _cp_reduce_async_bulk_tensor_1d_global_shared__cta

class _cp_reduce_async_bulk_tensor_1d:
    global_: _cp_reduce_async_bulk_tensor_1d_global

class _cp_reduce_async_bulk_tensor_3d_global_shared__cta:
    add: _cp_async_bulk_tensor_3d_global_shared__cta
    and_: _cp_async_bulk_tensor_3d_global_shared__cta
    dec: _cp_async_bulk_tensor_3d_global_shared__cta
    inc: _cp_async_bulk_tensor_3d_global_shared__cta
    max: _cp_async_bulk_tensor_3d_global_shared__cta
    min: _cp_async_bulk_tensor_3d_global_shared__cta
    or_: _cp_async_bulk_tensor_3d_global_shared__cta
    xor: _cp_async_bulk_tensor_3d_global_shared__cta

class _cp_reduce_async_bulk_tensor_3d_global:
    shared__cta: _cp_reduce_async_bulk_tensor_3d_global_shared__cta

class _cp_reduce_async_bulk_tensor_3d:
    global_: _cp_reduce_async_bulk_tensor_3d_global

class _cp_reduce_async_bulk_tensor:
    _1d: _cp_reduce_async_bulk_tensor_1d
    _2d: _cp_reduce_async_bulk_tensor_1d
    _3d: _cp_reduce_async_bulk_tensor_3d
    _4d: _cp_reduce_async_bulk_tensor_3d
    _5d: _cp_reduce_async_bulk_tensor_3d

class _cp_reduce_async_bulk:
    global_: _cp_reduce_async_bulk_global
    shared__cluster: _cp_reduce_async_bulk_shared__cluster
    tensor: _cp_reduce_async_bulk_tensor

class _cp_reduce_async:
    bulk: _cp_reduce_async_bulk

class _cp_reduce:
    async_: _cp_reduce_async

class _cp:
    async_: _cp_async
    reduce: _cp_reduce

class _createpolicy_cvt_L2:
    b64: _abs_bf16

class _createpolicy_cvt:
    L2: _createpolicy_cvt_L2

class _createpolicy_fractional_L2__evict_first:
    L2__evict_first: _createpolicy_cvt_L2
    L2__evict_unchanged: _createpolicy_cvt_L2
    b64: _abs_bf16

class _createpolicy_fractional:
    L2__evict_first: _createpolicy_fractional_L2__evict_first
    L2__evict_last: _createpolicy_fractional_L2__evict_first
    L2__evict_normal: _createpolicy_fractional_L2__evict_first
    L2__evict_unchanged: _createpolicy_fractional_L2__evict_first

class _createpolicy_range:
    L2__evict_first: _createpolicy_fractional_L2__evict_first
    L2__evict_last: _createpolicy_fractional_L2__evict_first
    L2__evict_normal: _createpolicy_fractional_L2__evict_first
    L2__evict_unchanged: _createpolicy_fractional_L2__evict_first
    global_: _createpolicy_fractional

class _createpolicy:
    cvt: _createpolicy_cvt
    fractional: _createpolicy_fractional
    range: _createpolicy_range

class _cvt_bf16:
    bf16: _abs_bf16
    f16: _abs_bf16

class _cvt_f16:
    bf16: _abs_bf16
    f16: _abs_bf16
    f64: _abs_bf16

class _cvt_f32:
    bf16: _abs_bf16
    f16: _abs_bf16
    f32: _abs_bf16

class _cvt_f64:
    bf16: _abs_bf16
    f16: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16

class _cvt_ftz_sat_f32:
    f16: _abs_bf16
    f32: _abs_bf16

class _cvt_ftz_sat:
    f32: _cvt_ftz_sat_f32
    f64: _add_rm_ftz_sat

class _cvt_ftz:
    f32: _cvt_f32
    f64: _add_rm_ftz_sat
    sat: _cvt_ftz_sat

class _cvt_pack_sat_s16:
    s32: _abs_bf16

class _cvt_pack_sat_s2:
    s32: _activemask

class _cvt_pack_sat:
    s16: _cvt_pack_sat_s16
    s2: _cvt_pack_sat_s2
    s4: _cvt_pack_sat_s2
    s8: _cvt_pack_sat_s2
    u16: _cvt_pack_sat_s16
    u2: _cvt_pack_sat_s2
    u4: _cvt_pack_sat_s2
    u8: _cvt_pack_sat_s2

class _cvt_pack:
    sat: _cvt_pack_sat

class _cvt_rm_bf16:
    f16: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _cvt_rm_f16:
    bf16: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _cvt_rm_f32:
    bf16: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _cvt_rm_f64:
    bf16: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _cvt_rm_ftz_sat_f32:
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _cvt_rm_ftz_sat:
    f16: _add_rm_ftz_sat
    f32: _cvt_rm_ftz_sat_f32

class _cvt_rm_ftz:
    bf16: _add_rm_ftz_sat
    f16: _add_rm_ftz_sat
    f32: _cvt_rm_f32
    sat: _cvt_rm_ftz_sat

class _cvt_rm_sat_f16:
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _cvt_rm_sat_f64:
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _cvt_rm_sat:
    f16: _cvt_rm_sat_f16
    f32: _cvt_rm_ftz_sat_f32
    f64: _cvt_rm_sat_f64

class _cvt_rm:
    bf16: _cvt_rm_bf16
    f16: _cvt_rm_f16
    f32: _cvt_rm_f32
    f64: _cvt_rm_f64
    ftz: _cvt_rm_ftz
    sat: _cvt_rm_sat

class _cvt_rmi_bf16:
    bf16: _abs_bf16

class _cvt_rmi_f16:
    f16: _abs_bf16
    f64: _abs_bf16

class _cvt_rmi_ftz_sat:
    f32: _add_rm_ftz_sat
    s16: _add_rm_ftz_sat
    s32: _add_rm_ftz_sat
    s64: _add_rm_ftz_sat
    s8: _add_rm_ftz_sat
    u16: _add_rm_ftz_sat
    u32: _add_rm_ftz_sat
    u64: _add_rm_ftz_sat
    u8: _add_rm_ftz_sat

class _cvt_rmi_ftz:
    f32: _add_rm_ftz_sat
    s16: _add_rm_ftz_sat
    s32: _add_rm_ftz_sat
    s64: _add_rm_ftz_sat
    s8: _add_rm_ftz_sat
    sat: _cvt_rmi_ftz_sat
    u16: _add_rm_ftz_sat
    u32: _add_rm_ftz_sat
    u64: _add_rm_ftz_sat
    u8: _add_rm_ftz_sat

class _cvt_rmi_sat_s16:
    f16: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16

class _cvt_rmi_sat:
    f16: _cvt_rmi_f16
    f32: _add_rm_ftz_sat
    f64: _cvt_rmi_f16
    s16: _cvt_rmi_sat_s16
    s32: _cvt_rmi_sat_s16
    s64: _cvt_rmi_sat_s16
    s8: _cvt_rmi_sat_s16
    u16: _cvt_rmi_sat_s16
    u32: _cvt_rmi_sat_s16
    u64: _cvt_rmi_sat_s16
    u8: _cvt_rmi_sat_s16

class _cvt_rmi:
    bf16: _cvt_rmi_bf16
    f16: _cvt_rmi_f16
    f32: _add_rm_ftz_sat
    f64: _cvt_rmi_f16
    ftz: _cvt_rmi_ftz
    s16: _cvt_f64
    s32: _cvt_f64
    s64: _cvt_f64
    s8: _cvt_f64
    sat: _cvt_rmi_sat
    u16: _cvt_f64
    u32: _cvt_f64
    u64: _cvt_f64
    u8: _cvt_f64

class _cvt_rn_bf16x2:
    f32: _abs_bf16
    ue8m0x2: _abs_bf16

class _cvt_rn_f16x2:
    e2m1x2: _abs_bf16
    e2m3x2: _abs_bf16
    e3m2x2: _abs_bf16
    e4m3x2: _abs_bf16
    e5m2x2: _abs_bf16
    f32: _abs_bf16

class _cvt_rn_relu_satfinite:
    bf16: _add_rm_ftz_sat
    bf16x2: _add_rm_ftz_sat
    f16: _add_rm_ftz_sat
    f16x2: _add_rm_ftz_sat

class _cvt_rn_relu:
    bf16: _add_rm_ftz_sat
    bf16x2: _add_rm_ftz_sat
    f16: _add_rm_ftz_sat
    f16x2: _cvt_rn_f16x2
    satfinite: _cvt_rn_relu_satfinite
    tf32: _add_rm_ftz_sat

class _cvt_rn_satfinite_e2m1x2:
    f16x2: _abs_bf16
    f32: _abs_bf16

class _cvt_rn_satfinite_relu:
    e2m1x2: _cvt_rn_satfinite_e2m1x2
    e2m3x2: _add_rm_ftz_sat
    e3m2x2: _add_rm_ftz_sat
    e4m3x2: _cvt_rn_satfinite_e2m1x2
    e5m2x2: _cvt_rn_satfinite_e2m1x2
    tf32: _add_rm_ftz_sat

class _cvt_rn_satfinite:
    bf16: _add_rm_ftz_sat
    bf16x2: _add_rm_ftz_sat
    e2m1x2: _cvt_rn_satfinite_e2m1x2
    e2m3x2: _add_rm_ftz_sat
    e3m2x2: _add_rm_ftz_sat
    e4m3x2: _cvt_rn_satfinite_e2m1x2
    e5m2x2: _cvt_rn_satfinite_e2m1x2
    f16: _add_rm_ftz_sat
    f16x2: _add_rm_ftz_sat
    relu: _cvt_rn_satfinite_relu
    tf32: _add_rm_ftz_sat

class _cvt_rn:
    bf16: _cvt_rm_bf16
    bf16x2: _cvt_rn_bf16x2
    f16: _cvt_rm_f16
    f16x2: _cvt_rn_f16x2
    f32: _cvt_rm_f32
    f64: _cvt_rm_f64
    ftz: _cvt_rm_ftz
    relu: _cvt_rn_relu
    sat: _cvt_rm_sat
    satfinite: _cvt_rn_satfinite
    tf32: _add_rm_ftz_sat

class _cvt_rna_satfinite:
    tf32: _add_rm_ftz_sat

class _cvt_rna:
    satfinite: _cvt_rna_satfinite
    tf32: _add_rm_ftz_sat

class _cvt_rp_satfinite_ue8m0x2:
    bf16x2: _abs_bf16
    f32: _abs_bf16

class _cvt_rp_satfinite:
    ue8m0x2: _cvt_rp_satfinite_ue8m0x2

class _cvt_rp:
    bf16: _cvt_rm_bf16
    f16: _cvt_rm_f16
    f32: _cvt_rm_f32
    f64: _cvt_rm_f64
    ftz: _cvt_rm_ftz
    sat: _cvt_rm_sat
    satfinite: _cvt_rp_satfinite
    ue8m0x2: _cvt_rp_satfinite_ue8m0x2

class _cvt_rs_relu_satfinite:
    bf16x2: _add_rm_ftz_sat
    e2m1x4: _add_rm_ftz_sat
    e2m3x4: _add_rm_ftz_sat
    e3m2x4: _add_rm_ftz_sat
    e4m3x4: _add_rm_ftz_sat
    e5m2x4: _add_rm_ftz_sat
    f16x2: _add_rm_ftz_sat

class _cvt_rs_relu:
    bf16x2: _add_rm_ftz_sat
    f16x2: _add_rm_ftz_sat
    satfinite: _cvt_rs_relu_satfinite

class _cvt_rs:
    bf16x2: _add_rm_ftz_sat
    f16x2: _add_rm_ftz_sat
    relu: _cvt_rs_relu
    satfinite: _cvt_rs_relu_satfinite

class _cvt_rz_relu:
    bf16: _add_rm_ftz_sat
    bf16x2: _add_rm_ftz_sat
    f16: _add_rm_ftz_sat
    f16x2: _add_rm_ftz_sat
    satfinite: _cvt_rn_relu_satfinite
    tf32: _add_rm_ftz_sat

class _cvt_rz_satfinite:
    bf16: _add_rm_ftz_sat
    bf16x2: _add_rm_ftz_sat
    f16: _add_rm_ftz_sat
    f16x2: _add_rm_ftz_sat
    relu: _cvt_rna_satfinite
    tf32: _add_rm_ftz_sat
    ue8m0x2: _cvt_rp_satfinite_ue8m0x2

class _cvt_rz:
    bf16: _cvt_rm_bf16
    bf16x2: _add_rm_ftz_sat
    f16: _cvt_rm_f16
    f16x2: _add_rm_ftz_sat
    f32: _cvt_rm_f32
    f64: _cvt_rm_f64
    ftz: _cvt_rm_ftz
    relu: _cvt_rz_relu
    sat: _cvt_rm_sat
    satfinite: _cvt_rz_satfinite
    tf32: _add_rm_ftz_sat
    ue8m0x2: _cvt_rp_satfinite_ue8m0x2

class _cvt_sat_s16:
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _cvt_sat_s32:
    s64: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _cvt_sat_s64:
    u64: _abs_bf16

class _cvt_sat_s8:
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _cvt_sat_u16:
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _cvt_sat_u32:
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u64: _abs_bf16

class _cvt_sat_u64:
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16

class _cvt_sat_u8:
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _cvt_sat:
    f16: _cvt_rmi_f16
    f32: _cvt_ftz_sat_f32
    f64: _cvt_rmi_sat_s16
    s16: _cvt_sat_s16
    s32: _cvt_sat_s32
    s64: _cvt_sat_s64
    s8: _cvt_sat_s8
    u16: _cvt_sat_u16
    u32: _cvt_sat_u32
    u64: _cvt_sat_u64
    u8: _cvt_sat_u8

class _cvt:
    bf16: _cvt_bf16
    f16: _cvt_f16
    f32: _cvt_f32
    f64: _cvt_f64
    ftz: _cvt_ftz
    pack: _cvt_pack
    rm: _cvt_rm
    rmi: _cvt_rmi
    rn: _cvt_rn
    rna: _cvt_rna
    rni: _cvt_rmi
    rp: _cvt_rp
    rpi: _cvt_rmi
    rs: _cvt_rs
    rz: _cvt_rz
    rzi: _cvt_rmi
    s16: _cvt_rm_sat_f64
    s32: _cvt_rm_sat_f64
    s64: _cvt_rm_sat_f64
    s8: _cvt_rm_sat_f64
    sat: _cvt_sat
    u16: _cvt_rm_sat_f64
    u32: _cvt_rm_sat_f64
    u64: _cvt_rm_sat_f64
    u8: _cvt_rm_sat_f64

class _cvta_to:
    const: _alloca
    global_: _alloca
    local: _alloca
    param: _alloca
    param__entry: _alloca
    shared: _alloca
    shared__cluster: _alloca
    shared__cta: _alloca

class _cvta:
    const: _alloca
    global_: _alloca
    local: _alloca
    param: _alloca
    param__entry: _alloca
    shared: _alloca
    shared__cluster: _alloca
    shared__cta: _alloca
    to: _cvta_to

class _discard_global:
    L2: _applypriority_L2__evict_normal

class _discard:
    L2: _applypriority_L2__evict_normal
    global_: _discard_global

class _div_rm:
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _add_rm_ftz_sat

class _div:
    approx: _cos_approx
    full: _cos_approx
    rm: _div_rm
    rn: _div_rm
    rp: _div_rm
    rz: _div_rm
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _dp2a_hi_s32:
    s32: _abs_bf16
    u32: _abs_bf16

class _dp2a_hi:
    s32: _dp2a_hi_s32
    u32: _dp2a_hi_s32

class _dp2a:
    hi: _dp2a_hi
    lo: _dp2a_hi

class _elect:
    sync: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _ex2_approx_ftz:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f32: _abs_bf16

class _ex2_approx:
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    ftz: _ex2_approx_ftz

class _ex2:
    approx: _ex2_approx

class _fence_acq_rel:
    cluster: _applypriority_L2__evict_normal
    cta: _applypriority_L2__evict_normal
    gpu: _applypriority_L2__evict_normal
    sys: _applypriority_L2__evict_normal

class _fence_acquire_sync_restrict__shared__cluster:
    cluster: _applypriority_L2__evict_normal

class _fence_acquire:
    cluster: _applypriority_L2__evict_normal
    cta: _applypriority_L2__evict_normal
    gpu: _applypriority_L2__evict_normal
    sync_restrict__shared__cluster: _fence_acquire_sync_restrict__shared__cluster
    sys: _applypriority_L2__evict_normal

class _fence_mbarrier_init:
    release: _fence_acquire_sync_restrict__shared__cluster

class _fence_proxy_async:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    global_: _applypriority_L2__evict_normal
    shared__cluster: _applypriority_L2__evict_normal
    shared__cta: _applypriority_L2__evict_normal

class _fence_proxy_async__generic_acquire:
    sync_restrict__shared__cluster: _fence_acquire_sync_restrict__shared__cluster

class _fence_proxy_async__generic_release:
    sync_restrict__shared__cta: _fence_acquire_sync_restrict__shared__cluster

class _fence_proxy_async__generic:
    acquire: _fence_proxy_async__generic_acquire
    release: _fence_proxy_async__generic_release

class _fence_proxy_tensormap__generic:
    acquire: _fence_acq_rel
    release: _fence_acq_rel

class _fence_proxy:
    alias: _applypriority_L2__evict_normal
    async_: _fence_proxy_async
    async__generic: _fence_proxy_async__generic
    tensormap__generic: _fence_proxy_tensormap__generic

class _fence_release:
    cluster: _applypriority_L2__evict_normal
    cta: _applypriority_L2__evict_normal
    gpu: _applypriority_L2__evict_normal
    sync_restrict__shared__cta: _fence_acquire_sync_restrict__shared__cluster
    sys: _applypriority_L2__evict_normal

class _fence:
    acq_rel: _fence_acq_rel
    acquire: _fence_acquire
    cluster: _applypriority_L2__evict_normal
    cta: _applypriority_L2__evict_normal
    gpu: _applypriority_L2__evict_normal
    mbarrier_init: _fence_mbarrier_init
    proxy: _fence_proxy
    release: _fence_release
    sc: _fence_acq_rel
    sys: _applypriority_L2__evict_normal

class _fma_rn_ftz_relu:
    f16: _abs_bf16
    f16x2: _abs_bf16

class _fma_rn_ftz:
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f32x2: _abs_bf16
    relu: _fma_rn_ftz_relu
    sat: _abs_ftz

class _fma_rn_oob:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    relu: _atom_acq_rel_cluster_shared_add_noftz

class _fma_rn:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _add_f32
    f32x2: _abs_bf16
    f64: _abs_bf16
    ftz: _fma_rn_ftz
    oob: _fma_rn_oob
    relu: _atom_acq_rel_cluster_shared_add_noftz
    sat: _add_rn_sat

class _fma:
    rm: _add_rm
    rn: _fma_rn
    rp: _add_rm
    rz: _add_rm

class _getctarank:
    shared__cluster: _alloca
    u32: _abs_bf16
    u64: _abs_bf16

class _griddepcontrol:
    launch_dependents: _applypriority_L2__evict_normal
    wait: _applypriority_L2__evict_normal

class _isspacep:
    const: _abs_bf16
    global_: _abs_bf16
    local: _abs_bf16
    param: _abs_bf16
    param__entry: _abs_bf16
    shared: _abs_bf16
    shared__cluster: _abs_bf16
    shared__cta: _abs_bf16

class _ld_L1__evict_first_L2__128B_v2:
    b16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b8: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s8: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u8: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _ld_L1__evict_first_L2__128B_v8:
    b32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _ld_L1__evict_first_L2__128B:
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_L1__evict_first_L2__cache_hint:
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_L1__evict_first_L2__evict_first_L2__128B_v4:
    b64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u64: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _ld_L1__evict_first_L2__evict_first_L2__128B:
    v4: _ld_L1__evict_first_L2__evict_first_L2__128B_v4
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_L1__evict_first_L2__evict_first_L2__cache_hint:
    L2__128B: _ld_L1__evict_first_L2__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__evict_first_L2__128B
    v4: _ld_L1__evict_first_L2__evict_first_L2__128B_v4
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_L1__evict_first_L2__evict_first:
    L2__128B: _ld_L1__evict_first_L2__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__evict_first_L2__cache_hint
    v4: _ld_L1__evict_first_L2__evict_first_L2__128B_v4
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_L1__evict_first:
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__cache_hint
    L2__evict_first: _ld_L1__evict_first_L2__evict_first
    L2__evict_last: _ld_L1__evict_first_L2__evict_first
    L2__evict_normal: _ld_L1__evict_first_L2__evict_first
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_acquire_cluster_global:
    L1__evict_first: _ld_L1__evict_first
    L1__evict_last: _ld_L1__evict_first
    L1__evict_normal: _ld_L1__evict_first
    L1__evict_unchanged: _ld_L1__evict_first
    L1__no_allocate: _ld_L1__evict_first
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__cache_hint
    L2__evict_first: _ld_L1__evict_first_L2__evict_first
    L2__evict_last: _ld_L1__evict_first_L2__evict_first
    L2__evict_normal: _ld_L1__evict_first_L2__evict_first
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_acquire_cluster_shared_v4:
    b16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b8: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s8: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u8: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _ld_acquire_cluster_shared:
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_acquire_cluster_shared_v4

class _ld_acquire_cluster:
    L1__evict_first: _ld_L1__evict_first
    L1__evict_last: _ld_L1__evict_first
    L1__evict_normal: _ld_L1__evict_first
    L1__evict_unchanged: _ld_L1__evict_first
    L1__no_allocate: _ld_L1__evict_first
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__cache_hint
    L2__evict_first: _ld_L1__evict_first_L2__evict_first
    L2__evict_last: _ld_L1__evict_first_L2__evict_first
    L2__evict_normal: _ld_L1__evict_first_L2__evict_first
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    global_: _ld_acquire_cluster_global
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    shared: _ld_acquire_cluster_shared
    shared__cluster: _ld_acquire_cluster_shared
    shared__cta: _ld_acquire_cluster_shared
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_acquire:
    cluster: _ld_acquire_cluster
    cta: _ld_acquire_cluster
    gpu: _ld_acquire_cluster
    sys: _ld_acquire_cluster

class _ld_ca:
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__cache_hint
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_const:
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    ca: _ld_acquire_cluster_shared
    cg: _ld_acquire_cluster_shared
    cs: _ld_acquire_cluster_shared
    cv: _ld_acquire_cluster_shared
    f32: _abs_bf16
    f64: _abs_bf16
    lu: _ld_acquire_cluster_shared
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_acquire_cluster_shared_v4

class _ld_global_ca:
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__cache_hint
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    nc: _ld_ca
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_global:
    L1__evict_first: _ld_L1__evict_first
    L1__evict_last: _ld_L1__evict_first
    L1__evict_normal: _ld_L1__evict_first
    L1__evict_unchanged: _ld_L1__evict_first
    L1__no_allocate: _ld_L1__evict_first
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__cache_hint
    L2__evict_first: _ld_L1__evict_first_L2__evict_first
    L2__evict_last: _ld_L1__evict_first_L2__evict_first
    L2__evict_normal: _ld_L1__evict_first_L2__evict_first
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    ca: _ld_global_ca
    cg: _ld_global_ca
    cs: _ld_global_ca
    cv: _ld_ca
    f32: _abs_bf16
    f64: _abs_bf16
    lu: _ld_ca
    nc: _ld_acquire_cluster_global
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_mmio_relaxed_sys_global:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _ld_mmio_relaxed_sys:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    global_: _ld_mmio_relaxed_sys_global
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16

class _ld_mmio_relaxed:
    sys: _ld_mmio_relaxed_sys

class _ld_mmio:
    relaxed: _ld_mmio_relaxed

class _ld_volatile:
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    global_: _ld_L1__evict_first_L2__cache_hint
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    shared: _ld_acquire_cluster_shared
    shared__cluster: _ld_acquire_cluster_shared
    shared__cta: _ld_acquire_cluster_shared
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_weak_global:
    L1__evict_first: _ld_L1__evict_first
    L1__evict_last: _ld_L1__evict_first
    L1__evict_normal: _ld_L1__evict_first
    L1__evict_unchanged: _ld_L1__evict_first
    L1__no_allocate: _ld_L1__evict_first
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__cache_hint
    L2__evict_first: _ld_L1__evict_first_L2__evict_first
    L2__evict_last: _ld_L1__evict_first_L2__evict_first
    L2__evict_normal: _ld_L1__evict_first_L2__evict_first
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    ca: _ld_ca
    cg: _ld_ca
    cs: _ld_ca
    cv: _ld_ca
    f32: _abs_bf16
    f64: _abs_bf16
    lu: _ld_ca
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld_weak:
    L1__evict_first: _ld_L1__evict_first
    L1__evict_last: _ld_L1__evict_first
    L1__evict_normal: _ld_L1__evict_first
    L1__evict_unchanged: _ld_L1__evict_first
    L1__no_allocate: _ld_L1__evict_first
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__cache_hint
    L2__evict_first: _ld_L1__evict_first_L2__evict_first
    L2__evict_last: _ld_L1__evict_first_L2__evict_first
    L2__evict_normal: _ld_L1__evict_first_L2__evict_first
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    ca: _ld_ca
    cg: _ld_ca
    const: _ld_const
    cs: _ld_ca
    cv: _ld_ca
    f32: _abs_bf16
    f64: _abs_bf16
    global_: _ld_weak_global
    local: _ld_const
    lu: _ld_ca
    param: _ld_const
    param__entry: _ld_const
    param__func: _ld_const
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    shared: _ld_const
    shared__cluster: _ld_const
    shared__cta: _ld_const
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8

class _ld:
    L1__evict_first: _ld_L1__evict_first
    L1__evict_last: _ld_L1__evict_first
    L1__evict_normal: _ld_L1__evict_first
    L1__evict_unchanged: _ld_L1__evict_first
    L1__no_allocate: _ld_L1__evict_first
    L2__128B: _ld_L1__evict_first_L2__128B
    L2__256B: _ld_L1__evict_first_L2__128B
    L2__64B: _ld_L1__evict_first_L2__128B
    L2__cache_hint: _ld_L1__evict_first_L2__cache_hint
    L2__evict_first: _ld_L1__evict_first_L2__evict_first
    L2__evict_last: _ld_L1__evict_first_L2__evict_first
    L2__evict_normal: _ld_L1__evict_first_L2__evict_first
    acquire: _ld_acquire
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    ca: _ld_ca
    cg: _ld_ca
    const: _ld_const
    cs: _ld_ca
    cv: _ld_ca
    f32: _abs_bf16
    f64: _abs_bf16
    global_: _ld_global
    local: _ld_const
    lu: _ld_ca
    mmio: _ld_mmio
    param: _ld_const
    param__entry: _ld_const
    param__func: _ld_const
    relaxed: _ld_acquire
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    shared: _ld_const
    shared__cluster: _ld_const
    shared__cta: _ld_const
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_L1__evict_first_L2__128B_v2
    v8: _ld_L1__evict_first_L2__128B_v8
    volatile: _ld_volatile
    weak: _ld_weak

class _ldmatrix_sync_aligned_m16n16_x1_trans_b8x16:
    b4x16_p64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b6x16_p32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _ldmatrix_sync_aligned_m16n16_x1_trans_shared:
    b8: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b8x16: _ldmatrix_sync_aligned_m16n16_x1_trans_b8x16

class _ldmatrix_sync_aligned_m16n16_x1_trans:
    b8: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b8x16: _ldmatrix_sync_aligned_m16n16_x1_trans_b8x16
    shared: _ldmatrix_sync_aligned_m16n16_x1_trans_shared
    shared__cta: _ldmatrix_sync_aligned_m16n16_x1_trans_shared

class _ldmatrix_sync_aligned_m16n16_x1:
    trans: _ldmatrix_sync_aligned_m16n16_x1_trans

class _ldmatrix_sync_aligned_m16n16:
    x1: _ldmatrix_sync_aligned_m16n16_x1
    x2: _ldmatrix_sync_aligned_m16n16_x1

class _ldmatrix_sync_aligned_m8n16_x1_shared:
    b8x16: _ldmatrix_sync_aligned_m16n16_x1_trans_b8x16

class _ldmatrix_sync_aligned_m8n16_x1:
    b8x16: _ldmatrix_sync_aligned_m16n16_x1_trans_b8x16
    shared: _ldmatrix_sync_aligned_m8n16_x1_shared
    shared__cta: _ldmatrix_sync_aligned_m8n16_x1_shared

class _ldmatrix_sync_aligned_m8n16:
    x1: _ldmatrix_sync_aligned_m8n16_x1
    x2: _ldmatrix_sync_aligned_m8n16_x1
    x4: _ldmatrix_sync_aligned_m8n16_x1

class _ldmatrix_sync_aligned_m8n8_x1_shared:
    b16: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _ldmatrix_sync_aligned_m8n8_x1_trans:
    b16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    shared: _ldmatrix_sync_aligned_m8n8_x1_shared
    shared__cta: _ldmatrix_sync_aligned_m8n8_x1_shared

class _ldmatrix_sync_aligned_m8n8_x1:
    b16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    shared: _ldmatrix_sync_aligned_m8n8_x1_shared
    shared__cta: _ldmatrix_sync_aligned_m8n8_x1_shared
    trans: _ldmatrix_sync_aligned_m8n8_x1_trans

class _ldmatrix_sync_aligned_m8n8:
    x1: _ldmatrix_sync_aligned_m8n8_x1
    x2: _ldmatrix_sync_aligned_m8n8_x1
    x4: _ldmatrix_sync_aligned_m8n8_x1

class _ldmatrix_sync_aligned:
    m16n16: _ldmatrix_sync_aligned_m16n16
    m8n16: _ldmatrix_sync_aligned_m8n16
    m8n8: _ldmatrix_sync_aligned_m8n8

class _ldmatrix_sync:
    aligned: _ldmatrix_sync_aligned

class _ldmatrix:
    sync: _ldmatrix_sync

class _ldu:
    b128: _abs_bf16
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    b8: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    global_: _ld_acquire_cluster_shared
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    s8: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    u8: _abs_bf16
    v2: _ld_L1__evict_first_L2__128B_v2
    v4: _ld_acquire_cluster_shared_v4

class _lop3_and:
    b32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _lop3:
    and_: _lop3_and
    b32: _abs_bf16
    or_: _lop3_and

class _mad_hi:
    cc: _add_cc
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    sat: _cvt_pack_sat_s16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _mad_lo:
    cc: _add_cc
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _mad_rm_ftz:
    f32: _abs_bf16
    sat: _add_rm_ftz_sat

class _mad_rm:
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _mad_rm_ftz
    sat: _add_rm_ftz_sat

class _mad_wide:
    s16: _abs_bf16
    s32: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16

class _mad:
    hi: _mad_hi
    lo: _mad_lo
    rm: _mad_rm
    rn: _mad_rm
    rp: _mad_rm
    rz: _mad_rm
    wide: _mad_wide

class _mad24_hi:
    s32: _abs_bf16
    sat: _cvt_pack_sat_s16
    u32: _abs_bf16

class _mad24:
    hi: _mad24_hi
    lo: _dp2a_hi_s32

class _madc:
    hi: _addc
    lo: _addc

class _match_all:
    sync: _atom_acq_rel_and_L2__cache_hint

class _match:
    all: _match_all
    any: _match_all

class _max_NaN_xorsign_abs:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16

class _max_NaN_xorsign:
    abs: _max_NaN_xorsign_abs

class _max_NaN:
    abs: _add_rm_ftz_sat
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    xorsign: _max_NaN_xorsign

class _max_ftz_NaN_xorsign:
    abs: _abs_ftz

class _max_ftz_NaN:
    abs: _add_rm_ftz_sat
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    xorsign: _max_ftz_NaN_xorsign

class _max_ftz:
    NaN: _max_ftz_NaN
    abs: _add_rm_ftz_sat
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    xorsign: _max_ftz_NaN_xorsign

class _max_relu:
    s16x2: _abs_bf16
    s32: _abs_bf16

class _max:
    NaN: _max_NaN
    abs: _add_rm_ftz_sat
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _max_ftz
    relu: _max_relu
    s16: _abs_bf16
    s16x2: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u16x2: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    xorsign: _max_NaN_xorsign

class _mbarrier_arrive_expect_tx_relaxed_cluster_shared:
    b64: _call_uni

class _mbarrier_arrive_expect_tx_relaxed_cluster:
    b64: _call_uni
    shared: _mbarrier_arrive_expect_tx_relaxed_cluster_shared
    shared__cluster: _cp_async_mbarrier_arrive_noinc_shared
    shared__cta: _mbarrier_arrive_expect_tx_relaxed_cluster_shared

class _mbarrier_arrive_expect_tx_relaxed:
    cluster: _mbarrier_arrive_expect_tx_relaxed_cluster
    cta: _mbarrier_arrive_expect_tx_relaxed_cluster

class _mbarrier_arrive_expect_tx:
    b64: _call_uni
    relaxed: _mbarrier_arrive_expect_tx_relaxed
    release: _mbarrier_arrive_expect_tx_relaxed
    shared: _mbarrier_arrive_expect_tx_relaxed_cluster_shared
    shared__cluster: _cp_async_mbarrier_arrive_noinc_shared
    shared__cta: _mbarrier_arrive_expect_tx_relaxed_cluster_shared

class _mbarrier_arrive_noComplete_release_cta:
    b64: _abs_bf16
    shared: _createpolicy_cvt_L2
    shared__cta: _createpolicy_cvt_L2

class _mbarrier_arrive_noComplete_release:
    cta: _mbarrier_arrive_noComplete_release_cta

class _mbarrier_arrive_noComplete:
    b64: _abs_bf16
    release: _mbarrier_arrive_noComplete_release
    shared: _createpolicy_cvt_L2
    shared__cta: _createpolicy_cvt_L2

class _mbarrier_arrive:
    b64: _call_uni
    expect_tx: _mbarrier_arrive_expect_tx
    noComplete: _mbarrier_arrive_noComplete
    relaxed: _mbarrier_arrive_expect_tx_relaxed
    release: _mbarrier_arrive_expect_tx_relaxed
    shared: _mbarrier_arrive_expect_tx_relaxed_cluster_shared
    shared__cluster: _cp_async_mbarrier_arrive_noinc_shared
    shared__cta: _mbarrier_arrive_expect_tx_relaxed_cluster_shared

class _mbarrier_complete_tx_relaxed_cluster:
    b64: _applypriority_L2__evict_normal
    shared: _cp_async_mbarrier_arrive_noinc_shared
    shared__cluster: _cp_async_mbarrier_arrive_noinc_shared
    shared__cta: _cp_async_mbarrier_arrive_noinc_shared

class _mbarrier_complete_tx_relaxed:
    cluster: _mbarrier_complete_tx_relaxed_cluster
    cta: _mbarrier_complete_tx_relaxed_cluster

class _mbarrier_complete_tx:
    b64: _applypriority_L2__evict_normal
    relaxed: _mbarrier_complete_tx_relaxed
    shared: _cp_async_mbarrier_arrive_noinc_shared
    shared__cluster: _cp_async_mbarrier_arrive_noinc_shared
    shared__cta: _cp_async_mbarrier_arrive_noinc_shared

class _mbarrier_test_wait_acquire:
    cluster: _mbarrier_arrive_noComplete_release_cta
    cta: _mbarrier_arrive_noComplete_release_cta

class _mbarrier_test_wait_parity:
    acquire: _mbarrier_test_wait_acquire
    b64: _abs_bf16
    relaxed: _mbarrier_test_wait_acquire
    shared: _createpolicy_cvt_L2
    shared__cta: _createpolicy_cvt_L2

class _mbarrier_test_wait:
    acquire: _mbarrier_test_wait_acquire
    b64: _abs_bf16
    parity: _mbarrier_test_wait_parity
    relaxed: _mbarrier_test_wait_acquire
    shared: _createpolicy_cvt_L2
    shared__cta: _createpolicy_cvt_L2

class _mbarrier:
    arrive: _mbarrier_arrive
    arrive_drop: _mbarrier_arrive
    complete_tx: _mbarrier_complete_tx
    expect_tx: _mbarrier_complete_tx
    init: _cp_async_mbarrier_arrive_noinc
    inval: _cp_async_mbarrier_arrive_noinc
    pending_count: _createpolicy_cvt_L2
    test_wait: _mbarrier_test_wait
    try_wait: _mbarrier_test_wait

class _membar_proxy:
    alias: _applypriority_L2__evict_normal

class _membar:
    cta: _applypriority_L2__evict_normal
    gl: _applypriority_L2__evict_normal
    proxy: _membar_proxy
    sys: _applypriority_L2__evict_normal

class _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4_s4:
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4:
    s4: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4_s4
    u4: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4_s4

class _mma_sp_sync_aligned_m16n8k128_row_col_s32:
    s4: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4
    u4: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4

class _mma_sp_sync_aligned_m16n8k128_row_col_satfinite:
    s32: _mma_sp_sync_aligned_m16n8k128_row_col_s32

class _mma_sp_sync_aligned_m16n8k128_row_col:
    s32: _mma_sp_sync_aligned_m16n8k128_row_col_s32
    satfinite: _mma_sp_sync_aligned_m16n8k128_row_col_satfinite

class _mma_sp_sync_aligned_m16n8k128_row:
    col: _mma_sp_sync_aligned_m16n8k128_row_col

class _mma_sp_sync_aligned_m16n8k128:
    row: _mma_sp_sync_aligned_m16n8k128_row

class _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16:
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16:
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16

class _mma_sp_sync_aligned_m16n8k16_row_col_f16:
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16

class _mma_sp_sync_aligned_m16n8k16_row_col_f32_bf16:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2

class _mma_sp_sync_aligned_m16n8k16_row_col_f32_f16:
    f16: _atom_acq_rel_add_L2__cache_hint_v2

class _mma_sp_sync_aligned_m16n8k16_row_col_f32_tf32:
    tf32: _atom_acq_rel_add_L2__cache_hint_v2

class _mma_sp_sync_aligned_m16n8k16_row_col_f32:
    bf16: _mma_sp_sync_aligned_m16n8k16_row_col_f32_bf16
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f32_f16
    tf32: _mma_sp_sync_aligned_m16n8k16_row_col_f32_tf32

class _mma_sp_sync_aligned_m16n8k16_row_col:
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f16
    f32: _mma_sp_sync_aligned_m16n8k16_row_col_f32

class _mma_sp_sync_aligned_m16n8k16_row:
    col: _mma_sp_sync_aligned_m16n8k16_row_col

class _mma_sp_sync_aligned_m16n8k16:
    row: _mma_sp_sync_aligned_m16n8k16_row

class _mma_sp_sync_aligned_m16n8k32_row_col_f32:
    bf16: _mma_sp_sync_aligned_m16n8k16_row_col_f32_bf16
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f32_f16

class _mma_sp_sync_aligned_m16n8k32_row_col_s32_s8:
    s8: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4_s4
    u8: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4_s4

class _mma_sp_sync_aligned_m16n8k32_row_col_s32:
    s8: _mma_sp_sync_aligned_m16n8k32_row_col_s32_s8
    u8: _mma_sp_sync_aligned_m16n8k32_row_col_s32_s8

class _mma_sp_sync_aligned_m16n8k32_row_col_satfinite:
    s32: _mma_sp_sync_aligned_m16n8k32_row_col_s32

class _mma_sp_sync_aligned_m16n8k32_row_col:
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f16
    f32: _mma_sp_sync_aligned_m16n8k32_row_col_f32
    s32: _mma_sp_sync_aligned_m16n8k32_row_col_s32
    satfinite: _mma_sp_sync_aligned_m16n8k32_row_col_satfinite

class _mma_sp_sync_aligned_m16n8k32_row:
    col: _mma_sp_sync_aligned_m16n8k32_row_col

class _mma_sp_sync_aligned_m16n8k32:
    row: _mma_sp_sync_aligned_m16n8k32_row

class _mma_sp_sync_aligned_m16n8k64_row_col_f32_e4m3:
    e4m3: _atom_acq_rel_add_L2__cache_hint_v2
    e5m2: _atom_acq_rel_add_L2__cache_hint_v2

class _mma_sp_sync_aligned_m16n8k64_row_col_f32:
    e4m3: _mma_sp_sync_aligned_m16n8k64_row_col_f32_e4m3
    e5m2: _mma_sp_sync_aligned_m16n8k64_row_col_f32_e4m3

class _mma_sp_sync_aligned_m16n8k64_row_col_s32:
    s4: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4
    s8: _mma_sp_sync_aligned_m16n8k32_row_col_s32_s8
    u4: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4
    u8: _mma_sp_sync_aligned_m16n8k32_row_col_s32_s8

class _mma_sp_sync_aligned_m16n8k64_row_col_satfinite:
    s32: _mma_sp_sync_aligned_m16n8k64_row_col_s32

class _mma_sp_sync_aligned_m16n8k64_row_col:
    f32: _mma_sp_sync_aligned_m16n8k64_row_col_f32
    s32: _mma_sp_sync_aligned_m16n8k64_row_col_s32
    satfinite: _mma_sp_sync_aligned_m16n8k64_row_col_satfinite

class _mma_sp_sync_aligned_m16n8k64_row:
    col: _mma_sp_sync_aligned_m16n8k64_row_col

class _mma_sp_sync_aligned_m16n8k64:
    row: _mma_sp_sync_aligned_m16n8k64_row

class _mma_sp_sync_aligned_m16n8k8_row_col_f32:
    tf32: _mma_sp_sync_aligned_m16n8k16_row_col_f32_tf32

class _mma_sp_sync_aligned_m16n8k8_row_col:
    f32: _mma_sp_sync_aligned_m16n8k8_row_col_f32

class _mma_sp_sync_aligned_m16n8k8_row:
    col: _mma_sp_sync_aligned_m16n8k8_row_col

class _mma_sp_sync_aligned_m16n8k8:
    row: _mma_sp_sync_aligned_m16n8k8_row

class _mma_sp_sync_aligned:
    m16n8k128: _mma_sp_sync_aligned_m16n8k128
    m16n8k16: _mma_sp_sync_aligned_m16n8k16
    m16n8k32: _mma_sp_sync_aligned_m16n8k32
    m16n8k64: _mma_sp_sync_aligned_m16n8k64
    m16n8k8: _mma_sp_sync_aligned_m16n8k8

class _mma_sp_sync:
    aligned: _mma_sp_sync_aligned

class _mma_sp:
    sync: _mma_sp_sync

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1_e2m1_f32:
    ue8m0: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1_e2m1:
    f32: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1_e2m1_f32

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1:
    e2m1: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1_e2m1

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32:
    e2m1: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_scale_vec__2X:
    f32: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale:
    f32: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32
    scale_vec__2X: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_scale_vec__2X

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4:
    block_scale: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X_f32_e2m1_e2m1_f32:
    ue4m3: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X_f32_e2m1_e2m1:
    f32: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X_f32_e2m1_e2m1_f32

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X_f32_e2m1:
    e2m1: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X_f32_e2m1_e2m1

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X_f32:
    e2m1: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X_f32_e2m1

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X:
    f32: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X_f32

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale:
    scale_vec__2X: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_scale_vec__2X
    scale_vec__4X: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale_scale_vec__4X

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4:
    block_scale: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4_block_scale

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col:
    kind__mxf4: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4
    kind__mxf4nvf4: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4nvf4
    s32: _mma_sp_sync_aligned_m16n8k128_row_col_s32
    satfinite: _mma_sp_sync_aligned_m16n8k128_row_col_satfinite

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row:
    col: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col

class _mma_sp__ordered_metadata_sync_aligned_m16n8k128:
    row: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_f16_e4m3:
    e4m3: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16
    e5m2: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_f16:
    e4m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_f16_e4m3
    e5m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_f16_e4m3

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f16_e2m1:
    e2m1: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16
    e2m3: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16
    e3m2: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16
    e4m3: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16
    e5m2: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16_f16

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f16:
    e2m1: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f16_e2m1
    e2m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f16_e2m1
    e3m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f16_e2m1
    e4m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f16_e2m1
    e5m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f16_e2m1

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f32_e2m1:
    e2m1: _atom_acq_rel_add_L2__cache_hint_v2
    e2m3: _atom_acq_rel_add_L2__cache_hint_v2
    e3m2: _atom_acq_rel_add_L2__cache_hint_v2
    e4m3: _atom_acq_rel_add_L2__cache_hint_v2
    e5m2: _atom_acq_rel_add_L2__cache_hint_v2

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f32:
    e2m1: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f32_e2m1
    e2m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f32_e2m1
    e3m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f32_e2m1
    e4m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f32_e2m1
    e5m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f32_e2m1

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4:
    f16: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f16
    f32: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4_f32

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_f32_e2m1:
    e2m1: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1_e2m1
    e2m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1_e2m1
    e3m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1_e2m1
    e4m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1_e2m1
    e5m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k128_row_col_kind__mxf4_block_scale_f32_e2m1_e2m1

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_f32:
    e2m1: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_f32_e2m1
    e2m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_f32_e2m1
    e3m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_f32_e2m1
    e4m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_f32_e2m1
    e5m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_f32_e2m1

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_scale_vec__1X:
    f32: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_f32

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale:
    f32: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_f32
    scale_vec__1X: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale_scale_vec__1X

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4:
    block_scale: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4_block_scale

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col:
    f16: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_f16
    f32: _mma_sp_sync_aligned_m16n8k64_row_col_f32
    kind__f8f6f4: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__f8f6f4
    kind__mxf8f6f4: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_kind__mxf8f6f4
    s32: _mma_sp_sync_aligned_m16n8k64_row_col_s32
    satfinite: _mma_sp_sync_aligned_m16n8k64_row_col_satfinite

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row:
    col: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col

class _mma_sp__ordered_metadata_sync_aligned_m16n8k64:
    row: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row

class _mma_sp__ordered_metadata_sync_aligned:
    m16n8k128: _mma_sp__ordered_metadata_sync_aligned_m16n8k128
    m16n8k16: _mma_sp_sync_aligned_m16n8k16
    m16n8k32: _mma_sp_sync_aligned_m16n8k32
    m16n8k64: _mma_sp__ordered_metadata_sync_aligned_m16n8k64
    m16n8k8: _mma_sp_sync_aligned_m16n8k8

class _mma_sp__ordered_metadata_sync:
    aligned: _mma_sp__ordered_metadata_sync_aligned

class _mma_sp__ordered_metadata:
    sync: _mma_sp__ordered_metadata_sync

class _mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32_and:
    popc: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32:
    and_: _mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32_and
    xor: _mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32_and

class _mma_sync_aligned_m16n8k128_row_col_s32_b1_b1:
    s32: _mma_sync_aligned_m16n8k128_row_col_s32_b1_b1_s32

class _mma_sync_aligned_m16n8k128_row_col_s32_b1:
    b1: _mma_sync_aligned_m16n8k128_row_col_s32_b1_b1

class _mma_sync_aligned_m16n8k128_row_col_s32:
    b1: _mma_sync_aligned_m16n8k128_row_col_s32_b1

class _mma_sync_aligned_m16n8k128_row_col:
    s32: _mma_sync_aligned_m16n8k128_row_col_s32

class _mma_sync_aligned_m16n8k128_row:
    col: _mma_sync_aligned_m16n8k128_row_col

class _mma_sync_aligned_m16n8k128:
    row: _mma_sync_aligned_m16n8k128_row

class _mma_sync_aligned_m16n8k16_row_col_f16:
    e4m3: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_f16_e4m3
    e5m2: _mma_sp__ordered_metadata_sync_aligned_m16n8k64_row_col_f16_e4m3
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f16_f16

class _mma_sync_aligned_m16n8k16_row_col_f32:
    bf16: _mma_sp_sync_aligned_m16n8k16_row_col_f32_bf16
    e4m3: _mma_sp_sync_aligned_m16n8k64_row_col_f32_e4m3
    e5m2: _mma_sp_sync_aligned_m16n8k64_row_col_f32_e4m3
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f32_f16

class _mma_sync_aligned_m16n8k16_row_col_f64_f64_f64:
    f64: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _mma_sync_aligned_m16n8k16_row_col_f64_f64:
    f64: _mma_sync_aligned_m16n8k16_row_col_f64_f64_f64

class _mma_sync_aligned_m16n8k16_row_col_f64:
    f64: _mma_sync_aligned_m16n8k16_row_col_f64_f64

class _mma_sync_aligned_m16n8k16_row_col_rm:
    f64: _mma_sync_aligned_m16n8k16_row_col_f64

class _mma_sync_aligned_m16n8k16_row_col:
    f16: _mma_sync_aligned_m16n8k16_row_col_f16
    f32: _mma_sync_aligned_m16n8k16_row_col_f32
    f64: _mma_sync_aligned_m16n8k16_row_col_f64
    rm: _mma_sync_aligned_m16n8k16_row_col_rm
    rn: _mma_sync_aligned_m16n8k16_row_col_rm
    rp: _mma_sync_aligned_m16n8k16_row_col_rm
    rz: _mma_sync_aligned_m16n8k16_row_col_rm
    s32: _mma_sp_sync_aligned_m16n8k32_row_col_s32
    satfinite: _mma_sp_sync_aligned_m16n8k32_row_col_satfinite

class _mma_sync_aligned_m16n8k16_row:
    col: _mma_sync_aligned_m16n8k16_row_col

class _mma_sync_aligned_m16n8k16:
    row: _mma_sync_aligned_m16n8k16_row

class _mma_sync_aligned_m16n8k4_row_col:
    f32: _mma_sp_sync_aligned_m16n8k8_row_col_f32
    f64: _mma_sync_aligned_m16n8k16_row_col_f64
    rm: _mma_sync_aligned_m16n8k16_row_col_rm
    rn: _mma_sync_aligned_m16n8k16_row_col_rm
    rp: _mma_sync_aligned_m16n8k16_row_col_rm
    rz: _mma_sync_aligned_m16n8k16_row_col_rm

class _mma_sync_aligned_m16n8k4_row:
    col: _mma_sync_aligned_m16n8k4_row_col

class _mma_sync_aligned_m16n8k4:
    row: _mma_sync_aligned_m16n8k4_row

class _mma_sync_aligned_m16n8k8_row_col:
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f16
    f32: _mma_sp_sync_aligned_m16n8k16_row_col_f32
    f64: _mma_sync_aligned_m16n8k16_row_col_f64
    rm: _mma_sync_aligned_m16n8k16_row_col_rm
    rn: _mma_sync_aligned_m16n8k16_row_col_rm
    rp: _mma_sync_aligned_m16n8k16_row_col_rm
    rz: _mma_sync_aligned_m16n8k16_row_col_rm

class _mma_sync_aligned_m16n8k8_row:
    col: _mma_sync_aligned_m16n8k8_row_col

class _mma_sync_aligned_m16n8k8:
    row: _mma_sync_aligned_m16n8k8_row

class _mma_sync_aligned_m8n8k16_row_col:
    s32: _mma_sp_sync_aligned_m16n8k32_row_col_s32
    satfinite: _mma_sp_sync_aligned_m16n8k32_row_col_satfinite

class _mma_sync_aligned_m8n8k16_row:
    col: _mma_sync_aligned_m8n8k16_row_col

class _mma_sync_aligned_m8n8k16:
    row: _mma_sync_aligned_m8n8k16_row

class _mma_sync_aligned_m8n8k4_col_col_f32_f16_f16:
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _mma_sync_aligned_m8n8k4_col_col_f32_f16:
    f16: _mma_sync_aligned_m8n8k4_col_col_f32_f16_f16

class _mma_sync_aligned_m8n8k4_col_col_f32:
    f16: _mma_sync_aligned_m8n8k4_col_col_f32_f16

class _mma_sync_aligned_m8n8k4_col_col:
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f16
    f32: _mma_sync_aligned_m8n8k4_col_col_f32

class _mma_sync_aligned_m8n8k4_col:
    col: _mma_sync_aligned_m8n8k4_col_col
    row: _mma_sync_aligned_m8n8k4_col_col

class _mma_sync_aligned_m8n8k4_row_col:
    f16: _mma_sp_sync_aligned_m16n8k16_row_col_f16
    f32: _mma_sync_aligned_m8n8k4_col_col_f32
    f64: _mma_sync_aligned_m16n8k16_row_col_f64
    rm: _mma_sync_aligned_m16n8k16_row_col_rm
    rn: _mma_sync_aligned_m16n8k16_row_col_rm
    rp: _mma_sync_aligned_m16n8k16_row_col_rm
    rz: _mma_sync_aligned_m16n8k16_row_col_rm

class _mma_sync_aligned_m8n8k4_row:
    col: _mma_sync_aligned_m8n8k4_row_col
    row: _mma_sync_aligned_m8n8k4_col_col

class _mma_sync_aligned_m8n8k4:
    col: _mma_sync_aligned_m8n8k4_col
    row: _mma_sync_aligned_m8n8k4_row

class _mma_sync_aligned:
    m16n8k128: _mma_sync_aligned_m16n8k128
    m16n8k16: _mma_sync_aligned_m16n8k16
    m16n8k256: _mma_sync_aligned_m16n8k128
    m16n8k32: _mma_sp__ordered_metadata_sync_aligned_m16n8k64
    m16n8k4: _mma_sync_aligned_m16n8k4
    m16n8k64: _mma_sp__ordered_metadata_sync_aligned_m16n8k128
    m16n8k8: _mma_sync_aligned_m16n8k8
    m8n8k128: _mma_sync_aligned_m16n8k128
    m8n8k16: _mma_sync_aligned_m8n8k16
    m8n8k32: _mma_sp_sync_aligned_m16n8k128
    m8n8k4: _mma_sync_aligned_m8n8k4

class _mma_sync:
    aligned: _mma_sync_aligned

class _mma:
    sp: _mma_sp
    sp__ordered_metadata: _mma_sp__ordered_metadata
    sync: _mma_sync

class _mov_v2:
    b16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u64: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _mov_v4:
    b16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    b32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _mov:
    b128: _call_uni
    b16: _call_uni
    b32: _call_uni
    b64: _call_uni
    f32: _abs_bf16
    f64: _abs_bf16
    pred: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    v2: _mov_v2
    v4: _mov_v4

class _movmatrix_sync_aligned_m8n8_trans:
    b16: _abs_bf16

class _movmatrix_sync_aligned_m8n8:
    trans: _movmatrix_sync_aligned_m8n8_trans

class _movmatrix_sync_aligned:
    m8n8: _movmatrix_sync_aligned_m8n8

class _movmatrix_sync:
    aligned: _movmatrix_sync_aligned

class _movmatrix:
    sync: _movmatrix_sync

class _mul_hi:
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _mul_rm:
    f32: _abs_bf16
    f32x2: _abs_bf16
    f64: _abs_bf16
    ftz: _add_rm_ftz
    sat: _add_rm_ftz_sat

class _mul_rn:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f32x2: _abs_bf16
    f64: _abs_bf16
    ftz: _add_ftz
    sat: _abs_ftz

class _mul:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f32x2: _abs_bf16
    f64: _abs_bf16
    ftz: _add_ftz
    hi: _mul_hi
    lo: _mul_hi
    rm: _mul_rm
    rn: _mul_rn
    rp: _mul_rm
    rz: _mul_rm
    sat: _abs_ftz
    wide: _mad_wide

class _mul24:
    hi: _dp2a_hi_s32
    lo: _dp2a_hi_s32

class _multimem_ld_reduce_acquire_cluster_add_acc__f16_v2:
    e4m3x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x4: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _multimem_ld_reduce_acquire_cluster_add_acc__f16_v4:
    e4m3: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x4: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _multimem_ld_reduce_acquire_cluster_add_acc__f16_v8:
    e4m3: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x2: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _multimem_ld_reduce_acquire_cluster_add_acc__f16:
    e4m3x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    v2: _multimem_ld_reduce_acquire_cluster_add_acc__f16_v2
    v4: _multimem_ld_reduce_acquire_cluster_add_acc__f16_v4
    v8: _multimem_ld_reduce_acquire_cluster_add_acc__f16_v8

class _multimem_ld_reduce_acquire_cluster_add_acc__f32:
    bf16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    v2: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v4: _atom_acq_rel_add_noftz_L2__cache_hint_v2
    v8: _atom_acq_rel_add_noftz_L2__cache_hint_v8

class _multimem_ld_reduce_acquire_cluster_add_v2:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    bf16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _multimem_ld_reduce_acquire_cluster_add_v4:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    bf16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _multimem_ld_reduce_acquire_cluster_add_v8:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _multimem_ld_reduce_acquire_cluster_add:
    acc__f16: _multimem_ld_reduce_acquire_cluster_add_acc__f16
    acc__f32: _multimem_ld_reduce_acquire_cluster_add_acc__f32
    bf16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f64: _abs_bf16
    s32: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    v2: _multimem_ld_reduce_acquire_cluster_add_v2
    v4: _multimem_ld_reduce_acquire_cluster_add_v4
    v8: _multimem_ld_reduce_acquire_cluster_add_v8

class _multimem_ld_reduce_acquire_cluster_global_max_v2:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    bf16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _multimem_ld_reduce_acquire_cluster_global_max_v4:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    bf16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _multimem_ld_reduce_acquire_cluster_global_max:
    bf16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e4m3x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    e5m2x4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16x2: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s32: _abs_bf16
    s64: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    v2: _multimem_ld_reduce_acquire_cluster_global_max_v2
    v4: _multimem_ld_reduce_acquire_cluster_global_max_v4
    v8: _multimem_ld_reduce_acquire_cluster_add_v8

class _multimem_ld_reduce_acquire_cluster_global:
    add: _multimem_ld_reduce_acquire_cluster_add
    and_: _atom_acq_rel_and_L2__cache_hint
    max: _multimem_ld_reduce_acquire_cluster_global_max
    min: _multimem_ld_reduce_acquire_cluster_global_max
    or_: _atom_acq_rel_and_L2__cache_hint
    xor: _atom_acq_rel_and_L2__cache_hint

class _multimem_ld_reduce_acquire_cluster:
    add: _multimem_ld_reduce_acquire_cluster_add
    and_: _atom_acq_rel_and_L2__cache_hint
    global_: _multimem_ld_reduce_acquire_cluster_global
    max: _multimem_ld_reduce_acquire_cluster_global_max
    min: _multimem_ld_reduce_acquire_cluster_global_max
    or_: _atom_acq_rel_and_L2__cache_hint
    xor: _atom_acq_rel_and_L2__cache_hint

class _multimem_ld_reduce_acquire:
    cluster: _multimem_ld_reduce_acquire_cluster
    cta: _multimem_ld_reduce_acquire_cluster
    gpu: _multimem_ld_reduce_acquire_cluster
    sys: _multimem_ld_reduce_acquire_cluster

class _multimem_ld_reduce:
    acquire: _multimem_ld_reduce_acquire
    add: _multimem_ld_reduce_acquire_cluster_add
    and_: _atom_acq_rel_and_L2__cache_hint
    global_: _multimem_ld_reduce_acquire_cluster_global
    max: _multimem_ld_reduce_acquire_cluster_global_max
    min: _multimem_ld_reduce_acquire_cluster_global_max
    or_: _atom_acq_rel_and_L2__cache_hint
    relaxed: _multimem_ld_reduce_acquire
    weak: _multimem_ld_reduce_acquire_cluster
    xor: _atom_acq_rel_and_L2__cache_hint

class _multimem_red_add_v2:
    bf16: _applypriority_L2__evict_normal
    bf16x2: _applypriority_L2__evict_normal
    f16: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal

class _multimem_red_add:
    bf16x2: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    v2: _multimem_red_add_v2
    v4: _multimem_red_add_v2
    v8: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add_noftz

class _multimem_red_global_max:
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal

class _multimem_red_global:
    add: _multimem_red_add
    and_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    max: _multimem_red_global_max
    min: _multimem_red_global_max
    or_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    xor: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and

class _multimem_red_relaxed_cluster:
    add: _multimem_red_add
    and_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    global_: _multimem_red_global
    max: _multimem_red_global_max
    min: _multimem_red_global_max
    or_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    xor: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and

class _multimem_red_relaxed:
    cluster: _multimem_red_relaxed_cluster
    cta: _multimem_red_relaxed_cluster
    gpu: _multimem_red_relaxed_cluster
    sys: _multimem_red_relaxed_cluster

class _multimem_red:
    add: _multimem_red_add
    and_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    global_: _multimem_red_global
    max: _multimem_red_global_max
    min: _multimem_red_global_max
    or_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    relaxed: _multimem_red_relaxed
    release: _multimem_red_relaxed
    xor: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and

class _multimem_st_global_v2:
    bf16: _applypriority_L2__evict_normal
    bf16x2: _applypriority_L2__evict_normal
    e4m3x2: _applypriority_L2__evict_normal
    e4m3x4: _applypriority_L2__evict_normal
    e5m2x2: _applypriority_L2__evict_normal
    e5m2x4: _applypriority_L2__evict_normal
    f16: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal

class _multimem_st_global_v4:
    bf16: _applypriority_L2__evict_normal
    bf16x2: _applypriority_L2__evict_normal
    e4m3: _applypriority_L2__evict_normal
    e4m3x2: _applypriority_L2__evict_normal
    e4m3x4: _applypriority_L2__evict_normal
    e5m2: _applypriority_L2__evict_normal
    e5m2x2: _applypriority_L2__evict_normal
    e5m2x4: _applypriority_L2__evict_normal
    f16: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal

class _multimem_st_global_v8:
    bf16: _applypriority_L2__evict_normal
    e4m3: _applypriority_L2__evict_normal
    e4m3x2: _applypriority_L2__evict_normal
    e5m2: _applypriority_L2__evict_normal
    e5m2x2: _applypriority_L2__evict_normal
    f16: _applypriority_L2__evict_normal

class _multimem_st_global:
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    bf16x2: _applypriority_L2__evict_normal
    e4m3x4: _applypriority_L2__evict_normal
    e5m2x4: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    v2: _multimem_st_global_v2
    v4: _multimem_st_global_v4
    v8: _multimem_st_global_v8

class _multimem_st_relaxed_cluster:
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    bf16x2: _applypriority_L2__evict_normal
    e4m3x4: _applypriority_L2__evict_normal
    e5m2x4: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    global_: _multimem_st_global
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    v2: _multimem_st_global_v2
    v4: _multimem_st_global_v4
    v8: _multimem_st_global_v8

class _multimem_st_relaxed:
    cluster: _multimem_st_relaxed_cluster
    cta: _multimem_st_relaxed_cluster
    gpu: _multimem_st_relaxed_cluster
    sys: _multimem_st_relaxed_cluster

class _multimem_st:
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    bf16x2: _applypriority_L2__evict_normal
    e4m3x4: _applypriority_L2__evict_normal
    e5m2x4: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    global_: _multimem_st_global
    relaxed: _multimem_st_relaxed
    release: _multimem_st_relaxed
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    v2: _multimem_st_global_v2
    v4: _multimem_st_global_v4
    v8: _multimem_st_global_v8
    weak: _multimem_st_relaxed_cluster

class _multimem:
    ld_reduce: _multimem_ld_reduce
    red: _multimem_red
    st: _multimem_st

class _pmevent:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    mask: _applypriority_L2__evict_normal

class _prefetch_const:
    tensormap: _applypriority_L2__evict_normal

class _prefetch_global:
    L1: _applypriority_L2__evict_normal
    L2: _applypriority_L2__evict_normal
    L2__evict_last: _applypriority_L2__evict_normal
    L2__evict_normal: _applypriority_L2__evict_normal

class _prefetch_local:
    L1: _applypriority_L2__evict_normal
    L2: _applypriority_L2__evict_normal

class _prefetch:
    L1: _applypriority_L2__evict_normal
    L2: _applypriority_L2__evict_normal
    const: _prefetch_const
    global_: _prefetch_global
    local: _prefetch_local
    param: _prefetch_const
    tensormap: _applypriority_L2__evict_normal

class _prefetchu:
    L1: _applypriority_L2__evict_normal

class _prmt_b32:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...
    b4e: _abs_bf16
    ecl: _abs_bf16
    ecr: _abs_bf16
    f4e: _abs_bf16
    rc16: _abs_bf16
    rc8: _abs_bf16

class _prmt:
    b32: _prmt_b32

class _rcp_approx:
    f32: _abs_bf16
    ftz: _copysign

class _rcp:
    approx: _rcp_approx
    rm: _div_rm
    rn: _div_rm
    rp: _div_rm
    rz: _div_rm

class _red_add_L2__cache_hint_v2:
    f32: _applypriority_L2__evict_normal

class _red_add_L2__cache_hint:
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    v2: _red_add_L2__cache_hint_v2
    v4: _red_add_L2__cache_hint_v2

class _red_add_noftz_L2__cache_hint_v2:
    bf16: _applypriority_L2__evict_normal
    bf16x2: _applypriority_L2__evict_normal
    f16: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal

class _red_add_noftz_L2__cache_hint:
    bf16: _applypriority_L2__evict_normal
    bf16x2: _applypriority_L2__evict_normal
    f16: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal
    v2: _red_add_noftz_L2__cache_hint_v2
    v4: _red_add_noftz_L2__cache_hint_v2
    v8: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add_noftz

class _red_add_noftz:
    L2__cache_hint: _red_add_noftz_L2__cache_hint
    bf16: _applypriority_L2__evict_normal
    bf16x2: _applypriority_L2__evict_normal
    f16: _applypriority_L2__evict_normal
    f16x2: _applypriority_L2__evict_normal
    v2: _red_add_noftz_L2__cache_hint_v2
    v4: _red_add_noftz_L2__cache_hint_v2
    v8: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add_noftz

class _red_add:
    L2__cache_hint: _red_add_L2__cache_hint
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    noftz: _red_add_noftz
    s32: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    v2: _red_add_L2__cache_hint_v2
    v4: _red_add_L2__cache_hint_v2

class _red_and:
    L2__cache_hint: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal

class _red_async_mmio_release_gpu_global:
    add: _multimem_red_global_max

class _red_async_mmio_release_gpu:
    add: _multimem_red_global_max
    global_: _red_async_mmio_release_gpu_global

class _red_async_mmio_release:
    gpu: _red_async_mmio_release_gpu
    sys: _red_async_mmio_release_gpu

class _red_async_mmio:
    release: _red_async_mmio_release

class _red_async_relaxed_cluster:
    mbarrier__complete_tx__bytes: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes
    shared__cluster: _cp_reduce_async_bulk_shared__cluster_shared__cta

class _red_async_relaxed:
    cluster: _red_async_relaxed_cluster

class _red_async:
    mmio: _red_async_mmio
    relaxed: _red_async_relaxed
    release: _red_async_mmio_release

class _red_cluster_dec:
    L2__cache_hint: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    u32: _applypriority_L2__evict_normal

class _red_cluster_global_max_noftz_L2__cache_hint:
    v2: _red_add_noftz_L2__cache_hint_v2
    v4: _red_add_noftz_L2__cache_hint_v2
    v8: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add_noftz

class _red_cluster_global_max_noftz:
    L2__cache_hint: _red_cluster_global_max_noftz_L2__cache_hint
    v2: _red_add_noftz_L2__cache_hint_v2
    v4: _red_add_noftz_L2__cache_hint_v2
    v8: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add_noftz

class _red_cluster_global_max:
    L2__cache_hint: _multimem_red_global_max
    noftz: _red_cluster_global_max_noftz
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal

class _red_cluster_global:
    add: _red_add
    and_: _red_and
    dec: _red_cluster_dec
    inc: _red_cluster_dec
    max: _red_cluster_global_max
    min: _red_cluster_global_max
    or_: _red_and
    xor: _red_and

class _red_cluster_shared_add:
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    noftz: _red_add_noftz_L2__cache_hint_v2
    s32: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal

class _red_cluster_shared:
    add: _red_cluster_shared_add
    and_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    dec: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    inc: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    max: _multimem_red_global_max
    min: _multimem_red_global_max
    or_: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and
    xor: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_and

class _red_cluster:
    add: _red_add
    and_: _red_and
    dec: _red_cluster_dec
    global_: _red_cluster_global
    inc: _red_cluster_dec
    max: _red_cluster_global_max
    min: _red_cluster_global_max
    or_: _red_and
    shared: _red_cluster_shared
    shared__cluster: _red_cluster_shared
    shared__cta: _red_cluster_shared
    xor: _red_and

class _red_relaxed:
    add: _red_add
    and_: _red_and
    cluster: _red_cluster
    cta: _red_cluster
    dec: _red_cluster_dec
    global_: _red_cluster_global
    gpu: _red_cluster
    inc: _red_cluster_dec
    max: _red_cluster_global_max
    min: _red_cluster_global_max
    or_: _red_and
    shared: _red_cluster_shared
    shared__cluster: _red_cluster_shared
    shared__cta: _red_cluster_shared
    sys: _red_cluster
    xor: _red_and

class _red:
    add: _red_add
    and_: _red_and
    async_: _red_async
    cluster: _red_cluster
    cta: _red_cluster
    dec: _red_cluster_dec
    global_: _red_cluster_global
    gpu: _red_cluster
    inc: _red_cluster_dec
    max: _red_cluster_global_max
    min: _red_cluster_global_max
    or_: _red_and
    relaxed: _red_relaxed
    release: _red_relaxed
    shared: _red_cluster_shared
    shared__cluster: _red_cluster_shared
    shared__cta: _red_cluster_shared
    sys: _red_cluster
    xor: _red_and

class _redux_sync_max_abs:
    NaN: _add_rm_ftz_sat
    f32: _abs_bf16

class _redux_sync_max:
    NaN: _add_rm_ftz_sat
    abs: _redux_sync_max_abs
    f32: _abs_bf16
    s32: _abs_bf16
    u32: _abs_bf16

class _redux_sync:
    add: _dp2a_hi_s32
    and_: _activemask
    max: _redux_sync_max
    min: _redux_sync_max
    or_: _activemask
    xor: _activemask

class _redux:
    sync: _redux_sync

class _rsqrt_approx:
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _copysign

class _rsqrt:
    approx: _rsqrt_approx

class _selp:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _set_eq_and_bf16:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    bf16: _abs_bf16
    f16: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _set_eq_and_bf16x2:
    bf16x2: _abs_bf16

class _set_eq_and_f16:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    f16: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _set_eq_and_f16x2:
    f16x2: _abs_bf16

class _set_eq_and_ftz_s16:
    f16: _abs_bf16

class _set_eq_and_ftz:
    f16: _cvt_ftz_sat_f32
    f16x2: _set_eq_and_f16x2
    f32: _add_rm_ftz_sat
    s16: _set_eq_and_ftz_s16
    s32: _abs_ftz
    u16: _set_eq_and_ftz_s16
    u32: _abs_ftz

class _set_eq_and_s32:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _set_eq_and:
    bf16: _set_eq_and_bf16
    bf16x2: _set_eq_and_bf16x2
    f16: _set_eq_and_f16
    f16x2: _set_eq_and_f16x2
    f32: _selp
    ftz: _set_eq_and_ftz
    s16: _cvt_bf16
    s32: _set_eq_and_s32
    u16: _cvt_bf16
    u32: _set_eq_and_s32

class _set_eq:
    and_: _set_eq_and
    bf16: _set_eq_and_bf16
    bf16x2: _set_eq_and_bf16x2
    f16: _set_eq_and_f16
    f16x2: _set_eq_and_f16x2
    f32: _selp
    ftz: _set_eq_and_ftz
    or_: _set_eq_and
    s16: _cvt_bf16
    s32: _set_eq_and_s32
    u16: _cvt_bf16
    u32: _set_eq_and_s32
    xor: _set_eq_and

class _set_equ_and_s32:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16

class _set_equ_and:
    bf16: _cvt_f64
    bf16x2: _set_eq_and_bf16x2
    f16: _cvt_rmi_sat_s16
    f16x2: _set_eq_and_f16x2
    f32: _copysign
    ftz: _set_eq_and_ftz
    s16: _cvt_bf16
    s32: _set_equ_and_s32
    u16: _cvt_bf16
    u32: _set_equ_and_s32

class _set_equ:
    and_: _set_equ_and
    bf16: _cvt_f64
    bf16x2: _set_eq_and_bf16x2
    f16: _cvt_rmi_sat_s16
    f16x2: _set_eq_and_f16x2
    f32: _copysign
    ftz: _set_eq_and_ftz
    or_: _set_equ_and
    s16: _cvt_bf16
    s32: _set_equ_and_s32
    u16: _cvt_bf16
    u32: _set_equ_and_s32
    xor: _set_equ_and

class _set_ge_and_bf16:
    bf16: _abs_bf16
    f16: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _set_ge_and_f16:
    f16: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _set_ge_and_f32:
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _set_ge_and_s32:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _set_ge_and:
    bf16: _set_ge_and_bf16
    bf16x2: _set_eq_and_bf16x2
    f16: _set_ge_and_f16
    f16x2: _set_eq_and_f16x2
    f32: _set_ge_and_f32
    ftz: _set_eq_and_ftz
    s16: _cvt_bf16
    s32: _set_ge_and_s32
    u16: _cvt_bf16
    u32: _set_ge_and_s32

class _set_ge:
    and_: _set_ge_and
    bf16: _set_ge_and_bf16
    bf16x2: _set_eq_and_bf16x2
    f16: _set_ge_and_f16
    f16x2: _set_eq_and_f16x2
    f32: _set_ge_and_f32
    ftz: _set_eq_and_ftz
    or_: _set_ge_and
    s16: _cvt_bf16
    s32: _set_ge_and_s32
    u16: _cvt_bf16
    u32: _set_ge_and_s32
    xor: _set_ge_and

class _set_hi_and_bf16:
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _set_hi_and:
    bf16: _set_hi_and_bf16
    f16: _set_hi_and_bf16
    f32: _set_hi_and_bf16
    s32: _set_hi_and_bf16
    u32: _set_hi_and_bf16

class _set_hi:
    and_: _set_hi_and
    bf16: _set_hi_and_bf16
    f16: _set_hi_and_bf16
    f32: _set_hi_and_bf16
    or_: _set_hi_and
    s32: _set_hi_and_bf16
    u32: _set_hi_and_bf16
    xor: _set_hi_and

class _set:
    eq: _set_eq
    equ: _set_equ
    ge: _set_ge
    geu: _set_equ
    gt: _set_ge
    gtu: _set_equ
    hi: _set_hi
    hs: _set_hi
    le: _set_ge
    leu: _set_equ
    lo: _set_hi
    ls: _set_hi
    lt: _set_ge
    ltu: _set_equ
    nan: _set_equ
    ne: _set_eq
    neu: _set_equ
    num: _set_equ

class _setmaxnreg_dec_sync:
    aligned: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec

class _setmaxnreg_dec:
    sync: _setmaxnreg_dec_sync

class _setmaxnreg:
    dec: _setmaxnreg_dec
    inc: _setmaxnreg_dec

class _setp_eq_and:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _abs_ftz
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _setp_eq:
    and_: _setp_eq_and
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _abs_ftz
    or_: _setp_eq_and
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    xor: _setp_eq_and

class _setp_equ_and:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _abs_ftz

class _setp_equ:
    and_: _setp_equ_and
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _abs_ftz
    or_: _setp_equ_and
    xor: _setp_equ_and

class _setp_ge_and:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _abs_ftz
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _setp_ge:
    and_: _setp_ge_and
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _abs_bf16
    f64: _abs_bf16
    ftz: _abs_ftz
    or_: _setp_ge_and
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    xor: _setp_ge_and

class _setp_hi:
    and_: _set_hi_and_bf16
    or_: _set_hi_and_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16
    xor: _set_hi_and_bf16

class _setp:
    eq: _setp_eq
    equ: _setp_equ
    ge: _setp_ge
    geu: _setp_equ
    gt: _setp_ge
    gtu: _setp_equ
    hi: _setp_hi
    hs: _setp_hi
    le: _setp_ge
    leu: _setp_equ
    lo: _setp_hi
    ls: _setp_hi
    lt: _setp_ge
    ltu: _setp_equ
    nan: _setp_equ
    ne: _setp_eq
    neu: _setp_equ
    num: _setp_equ

class _shf:
    l: _bmsk
    r: _bmsk

class _shfl_sync:
    bfly: _activemask
    down: _activemask
    idx: _activemask
    up: _activemask

class _shfl:
    bfly: _activemask
    down: _activemask
    idx: _activemask
    sync: _shfl_sync
    up: _activemask

class _shr:
    b16: _abs_bf16
    b32: _abs_bf16
    b64: _abs_bf16
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _slct_b16:
    f32: _abs_bf16
    s32: _abs_bf16

class _slct_ftz:
    b16: _add_rm_ftz_sat
    b32: _add_rm_ftz_sat
    b64: _add_rm_ftz_sat
    f32: _add_rm_ftz_sat
    f64: _add_rm_ftz_sat
    s16: _add_rm_ftz_sat
    s32: _add_rm_ftz_sat
    s64: _add_rm_ftz_sat
    u16: _add_rm_ftz_sat
    u32: _add_rm_ftz_sat
    u64: _add_rm_ftz_sat

class _slct:
    b16: _slct_b16
    b32: _slct_b16
    b64: _slct_b16
    f32: _slct_b16
    f64: _slct_b16
    ftz: _slct_ftz
    s16: _slct_b16
    s32: _slct_b16
    s64: _slct_b16
    u16: _slct_b16
    u32: _slct_b16
    u64: _slct_b16

class _sqrt:
    approx: _cos_approx
    rm: _div_rm
    rn: _div_rm
    rp: _div_rm
    rz: _div_rm

class _st_L1__evict_first_L2__cache_hint_v2:
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal

class _st_L1__evict_first_L2__cache_hint_v8:
    b32: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal

class _st_L1__evict_first_L2__cache_hint:
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_L1__evict_first_L2__cache_hint_v2
    v8: _st_L1__evict_first_L2__cache_hint_v8

class _st_L1__evict_first_L2__evict_first_L2__cache_hint_v4:
    b64: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal

class _st_L1__evict_first_L2__evict_first_L2__cache_hint:
    v4: _st_L1__evict_first_L2__evict_first_L2__cache_hint_v4
    v8: _st_L1__evict_first_L2__cache_hint_v8

class _st_L1__evict_first_L2__evict_first:
    L2__cache_hint: _st_L1__evict_first_L2__evict_first_L2__cache_hint
    v4: _st_L1__evict_first_L2__evict_first_L2__cache_hint_v4
    v8: _st_L1__evict_first_L2__cache_hint_v8

class _st_L1__evict_first:
    L2__cache_hint: _st_L1__evict_first_L2__cache_hint
    L2__evict_first: _st_L1__evict_first_L2__evict_first
    L2__evict_last: _st_L1__evict_first_L2__evict_first
    L2__evict_normal: _st_L1__evict_first_L2__evict_first
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_L1__evict_first_L2__cache_hint_v2
    v8: _st_L1__evict_first_L2__cache_hint_v8

class _st_async_mbarrier__complete_tx__bytes_v2:
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal

class _st_async_mbarrier__complete_tx__bytes:
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    v2: _st_async_mbarrier__complete_tx__bytes_v2
    v4: _st_L1__evict_first_L2__cache_hint_v8

class _st_async_mmio_release_gpu:
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    global_: _st_L1__evict_first_L2__cache_hint_v2
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal

class _st_async_mmio_release:
    gpu: _st_async_mmio_release_gpu
    sys: _st_async_mmio_release_gpu

class _st_async_mmio:
    release: _st_async_mmio_release

class _st_async_shared__cluster:
    mbarrier__complete_tx__bytes: _st_async_mbarrier__complete_tx__bytes

class _st_async_weak:
    mbarrier__complete_tx__bytes: _st_async_mbarrier__complete_tx__bytes
    shared__cluster: _st_async_shared__cluster

class _st_async:
    mbarrier__complete_tx__bytes: _st_async_mbarrier__complete_tx__bytes
    mmio: _st_async_mmio
    release: _st_async_mmio_release
    shared__cluster: _st_async_shared__cluster
    weak: _st_async_weak

class _st_bulk_weak:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    shared__cta: _applypriority_L2__evict_normal

class _st_bulk:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    shared__cta: _applypriority_L2__evict_normal
    weak: _st_bulk_weak

class _st_cg:
    L2__cache_hint: _st_L1__evict_first_L2__cache_hint
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_L1__evict_first_L2__cache_hint_v2
    v8: _st_L1__evict_first_L2__cache_hint_v8

class _st_global:
    L1__evict_first: _st_L1__evict_first
    L1__evict_last: _st_L1__evict_first
    L1__evict_normal: _st_L1__evict_first
    L1__evict_unchanged: _st_L1__evict_first
    L1__no_allocate: _st_L1__evict_first
    L2__cache_hint: _st_L1__evict_first_L2__cache_hint
    L2__evict_first: _st_L1__evict_first_L2__evict_first
    L2__evict_last: _st_L1__evict_first_L2__evict_first
    L2__evict_normal: _st_L1__evict_first_L2__evict_first
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    cg: _st_cg
    cs: _st_cg
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_L1__evict_first_L2__cache_hint_v2
    v8: _st_L1__evict_first_L2__cache_hint_v8
    wb: _st_cg
    wt: _st_cg

class _st_local_cg_v4:
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal

class _st_local_cg:
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_local_cg_v4

class _st_local:
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    cg: _st_local_cg
    cs: _st_local_cg
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_local_cg_v4
    wb: _st_local_cg
    wt: _st_local_cg

class _st_mmio_relaxed:
    sys: _st_async_mmio_release_gpu

class _st_mmio:
    relaxed: _st_mmio_relaxed

class _st_relaxed_cluster_global:
    L1__evict_first: _st_L1__evict_first
    L1__evict_last: _st_L1__evict_first
    L1__evict_normal: _st_L1__evict_first
    L1__evict_unchanged: _st_L1__evict_first
    L1__no_allocate: _st_L1__evict_first
    L2__cache_hint: _st_L1__evict_first_L2__cache_hint
    L2__evict_first: _st_L1__evict_first_L2__evict_first
    L2__evict_last: _st_L1__evict_first_L2__evict_first
    L2__evict_normal: _st_L1__evict_first_L2__evict_first
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_L1__evict_first_L2__cache_hint_v2
    v8: _st_L1__evict_first_L2__cache_hint_v8

class _st_relaxed_cluster:
    L1__evict_first: _st_L1__evict_first
    L1__evict_last: _st_L1__evict_first
    L1__evict_normal: _st_L1__evict_first
    L1__evict_unchanged: _st_L1__evict_first
    L1__no_allocate: _st_L1__evict_first
    L2__cache_hint: _st_L1__evict_first_L2__cache_hint
    L2__evict_first: _st_L1__evict_first_L2__evict_first
    L2__evict_last: _st_L1__evict_first_L2__evict_first
    L2__evict_normal: _st_L1__evict_first_L2__evict_first
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    global_: _st_relaxed_cluster_global
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    shared: _st_local_cg
    shared__cluster: _st_local_cg
    shared__cta: _st_local_cg
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_L1__evict_first_L2__cache_hint_v2
    v8: _st_L1__evict_first_L2__cache_hint_v8

class _st_relaxed:
    cluster: _st_relaxed_cluster
    cta: _st_relaxed_cluster
    gpu: _st_relaxed_cluster
    sys: _st_relaxed_cluster

class _st_volatile:
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    global_: _st_L1__evict_first_L2__cache_hint
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    shared: _st_local_cg
    shared__cluster: _st_local_cg
    shared__cta: _st_local_cg
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_L1__evict_first_L2__cache_hint_v2
    v8: _st_L1__evict_first_L2__cache_hint_v8

class _st_weak:
    L1__evict_first: _st_L1__evict_first
    L1__evict_last: _st_L1__evict_first
    L1__evict_normal: _st_L1__evict_first
    L1__evict_unchanged: _st_L1__evict_first
    L1__no_allocate: _st_L1__evict_first
    L2__cache_hint: _st_L1__evict_first_L2__cache_hint
    L2__evict_first: _st_L1__evict_first_L2__evict_first
    L2__evict_last: _st_L1__evict_first_L2__evict_first
    L2__evict_normal: _st_L1__evict_first_L2__evict_first
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    cg: _st_cg
    cs: _st_cg
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    global_: _st_global
    local: _st_local
    param: _st_local
    param__func: _st_local
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    shared: _st_local
    shared__cluster: _st_local
    shared__cta: _st_local
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_L1__evict_first_L2__cache_hint_v2
    v8: _st_L1__evict_first_L2__cache_hint_v8
    wb: _st_cg
    wt: _st_cg

class _st:
    L1__evict_first: _st_L1__evict_first
    L1__evict_last: _st_L1__evict_first
    L1__evict_normal: _st_L1__evict_first
    L1__evict_unchanged: _st_L1__evict_first
    L1__no_allocate: _st_L1__evict_first
    L2__cache_hint: _st_L1__evict_first_L2__cache_hint
    L2__evict_first: _st_L1__evict_first_L2__evict_first
    L2__evict_last: _st_L1__evict_first_L2__evict_first
    L2__evict_normal: _st_L1__evict_first_L2__evict_first
    async_: _st_async
    b128: _applypriority_L2__evict_normal
    b16: _applypriority_L2__evict_normal
    b32: _applypriority_L2__evict_normal
    b64: _applypriority_L2__evict_normal
    b8: _applypriority_L2__evict_normal
    bulk: _st_bulk
    cg: _st_cg
    cs: _st_cg
    f32: _applypriority_L2__evict_normal
    f64: _applypriority_L2__evict_normal
    global_: _st_global
    local: _st_local
    mmio: _st_mmio
    param: _st_local
    param__func: _st_local
    relaxed: _st_relaxed
    release: _st_relaxed
    s16: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal
    s64: _applypriority_L2__evict_normal
    s8: _applypriority_L2__evict_normal
    shared: _st_local
    shared__cluster: _st_local
    shared__cta: _st_local
    u16: _applypriority_L2__evict_normal
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal
    v2: _st_L1__evict_first_L2__cache_hint_v2
    v4: _st_L1__evict_first_L2__cache_hint_v2
    v8: _st_L1__evict_first_L2__cache_hint_v8
    volatile: _st_volatile
    wb: _st_cg
    weak: _st_weak
    wt: _st_cg

class _stackrestore:
    u32: _applypriority_L2__evict_normal
    u64: _applypriority_L2__evict_normal

class _stmatrix_sync_aligned_m16n8_x1_trans_shared:
    b8: _applypriority_L2__evict_normal

class _stmatrix_sync_aligned_m16n8_x1_trans:
    b8: _applypriority_L2__evict_normal
    shared: _stmatrix_sync_aligned_m16n8_x1_trans_shared
    shared__cta: _stmatrix_sync_aligned_m16n8_x1_trans_shared

class _stmatrix_sync_aligned_m16n8_x1:
    trans: _stmatrix_sync_aligned_m16n8_x1_trans

class _stmatrix_sync_aligned_m16n8:
    x1: _stmatrix_sync_aligned_m16n8_x1
    x2: _stmatrix_sync_aligned_m16n8_x1
    x4: _stmatrix_sync_aligned_m16n8_x1

class _stmatrix_sync_aligned_m8n8_x1_shared:
    b16: _applypriority_L2__evict_normal

class _stmatrix_sync_aligned_m8n8_x1_trans:
    b16: _applypriority_L2__evict_normal
    shared: _stmatrix_sync_aligned_m8n8_x1_shared
    shared__cta: _stmatrix_sync_aligned_m8n8_x1_shared

class _stmatrix_sync_aligned_m8n8_x1:
    b16: _applypriority_L2__evict_normal
    shared: _stmatrix_sync_aligned_m8n8_x1_shared
    shared__cta: _stmatrix_sync_aligned_m8n8_x1_shared
    trans: _stmatrix_sync_aligned_m8n8_x1_trans

class _stmatrix_sync_aligned_m8n8:
    x1: _stmatrix_sync_aligned_m8n8_x1
    x2: _stmatrix_sync_aligned_m8n8_x1
    x4: _stmatrix_sync_aligned_m8n8_x1

class _stmatrix_sync_aligned:
    m16n8: _stmatrix_sync_aligned_m16n8
    m8n8: _stmatrix_sync_aligned_m8n8

class _stmatrix_sync:
    aligned: _stmatrix_sync_aligned

class _stmatrix:
    sync: _stmatrix_sync

class _sub:
    bf16: _abs_bf16
    bf16x2: _abs_bf16
    cc: _add_cc
    f16: _abs_bf16
    f16x2: _abs_bf16
    f32: _add_f32
    f32x2: _abs_bf16
    f64: _abs_bf16
    ftz: _add_ftz
    rm: _add_rm
    rn: _add_rn
    rp: _add_rm
    rz: _add_rm
    s16: _abs_bf16
    s32: _abs_bf16
    s64: _abs_bf16
    sat: _add_sat
    u16: _abs_bf16
    u32: _abs_bf16
    u64: _abs_bf16

class _szext:
    clamp: _dp2a_hi_s32
    wrap: _dp2a_hi_s32

class _tanh:
    approx: _max_NaN_xorsign_abs

class _tcgen05_alloc_cta_group__1_sync_aligned:
    b32: _applypriority_L2__evict_normal
    shared__cta: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_and

class _tcgen05_alloc_cta_group__1_sync:
    aligned: _tcgen05_alloc_cta_group__1_sync_aligned

class _tcgen05_alloc_cta_group__1:
    sync: _tcgen05_alloc_cta_group__1_sync

class _tcgen05_alloc:
    cta_group__1: _tcgen05_alloc_cta_group__1
    cta_group__2: _tcgen05_alloc_cta_group__1

class _tcgen05_commit_cta_group__1_mbarrier__arrive__one_shared__cluster:
    b64: _applypriority_L2__evict_normal
    multicast__cluster: _cp_async_mbarrier_arrive_noinc_shared

class _tcgen05_commit_cta_group__1_mbarrier__arrive__one:
    b64: _applypriority_L2__evict_normal
    multicast__cluster: _cp_async_mbarrier_arrive_noinc_shared
    shared__cluster: _tcgen05_commit_cta_group__1_mbarrier__arrive__one_shared__cluster

class _tcgen05_commit_cta_group__1:
    mbarrier__arrive__one: _tcgen05_commit_cta_group__1_mbarrier__arrive__one

class _tcgen05_commit:
    cta_group__1: _tcgen05_commit_cta_group__1
    cta_group__2: _tcgen05_commit_cta_group__1

class _tcgen05_cp_cta_group__1_128x128b_b8x16:
    b4x16_p64: _applypriority_L2__evict_normal
    b6x16_p32: _applypriority_L2__evict_normal

class _tcgen05_cp_cta_group__1_128x128b:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    b8x16: _tcgen05_cp_cta_group__1_128x128b_b8x16

class _tcgen05_cp_cta_group__1_32x128b:
    warpx4: _tcgen05_cp_cta_group__1_128x128b

class _tcgen05_cp_cta_group__1_64x128b:
    warpx2__01_23: _tcgen05_cp_cta_group__1_128x128b
    warpx2__02_13: _tcgen05_cp_cta_group__1_128x128b

class _tcgen05_cp_cta_group__1:
    _128x128b: _tcgen05_cp_cta_group__1_128x128b
    _128x256b: _tcgen05_cp_cta_group__1_128x128b
    _32x128b: _tcgen05_cp_cta_group__1_32x128b
    _4x256b: _tcgen05_cp_cta_group__1_128x128b
    _64x128b: _tcgen05_cp_cta_group__1_64x128b

class _tcgen05_cp:
    cta_group__1: _tcgen05_cp_cta_group__1
    cta_group__2: _tcgen05_cp_cta_group__1

class _tcgen05_dealloc_cta_group__1_sync:
    aligned: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_and

class _tcgen05_dealloc_cta_group__1:
    sync: _tcgen05_dealloc_cta_group__1_sync

class _tcgen05_dealloc:
    cta_group__1: _tcgen05_dealloc_cta_group__1
    cta_group__2: _tcgen05_dealloc_cta_group__1

class _tcgen05_ld_red_sync_aligned_16x32bx2_x128_max_abs:
    NaN: _atom_acq_rel_add_L2__cache_hint_v2
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _tcgen05_ld_red_sync_aligned_16x32bx2_x128_max:
    NaN: _atom_acq_rel_add_L2__cache_hint_v2
    abs: _tcgen05_ld_red_sync_aligned_16x32bx2_x128_max_abs
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _tcgen05_ld_red_sync_aligned_16x32bx2_x128:
    max: _tcgen05_ld_red_sync_aligned_16x32bx2_x128_max
    min: _tcgen05_ld_red_sync_aligned_16x32bx2_x128_max

class _tcgen05_ld_red_sync_aligned_16x32bx2:
    x128: _tcgen05_ld_red_sync_aligned_16x32bx2_x128
    x16: _tcgen05_ld_red_sync_aligned_16x32bx2_x128
    x2: _tcgen05_ld_red_sync_aligned_16x32bx2_x128
    x32: _tcgen05_ld_red_sync_aligned_16x32bx2_x128
    x4: _tcgen05_ld_red_sync_aligned_16x32bx2_x128
    x64: _tcgen05_ld_red_sync_aligned_16x32bx2_x128
    x8: _tcgen05_ld_red_sync_aligned_16x32bx2_x128

class _tcgen05_ld_red_sync_aligned:
    _16x32bx2: _tcgen05_ld_red_sync_aligned_16x32bx2
    _32x32b: _tcgen05_ld_red_sync_aligned_16x32bx2

class _tcgen05_ld_red_sync:
    aligned: _tcgen05_ld_red_sync_aligned

class _tcgen05_ld_red:
    sync: _tcgen05_ld_red_sync

class _tcgen05_ld_sync_aligned_16x128b_x1:
    b32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    pack__16b: _lop3_and

class _tcgen05_ld_sync_aligned_16x128b:
    x1: _tcgen05_ld_sync_aligned_16x128b_x1
    x16: _tcgen05_ld_sync_aligned_16x128b_x1
    x2: _tcgen05_ld_sync_aligned_16x128b_x1
    x32: _tcgen05_ld_sync_aligned_16x128b_x1
    x4: _tcgen05_ld_sync_aligned_16x128b_x1
    x64: _tcgen05_ld_sync_aligned_16x128b_x1
    x8: _tcgen05_ld_sync_aligned_16x128b_x1

class _tcgen05_ld_sync_aligned_16x256b:
    x1: _tcgen05_ld_sync_aligned_16x128b_x1
    x16: _tcgen05_ld_sync_aligned_16x128b_x1
    x2: _tcgen05_ld_sync_aligned_16x128b_x1
    x32: _tcgen05_ld_sync_aligned_16x128b_x1
    x4: _tcgen05_ld_sync_aligned_16x128b_x1
    x8: _tcgen05_ld_sync_aligned_16x128b_x1

class _tcgen05_ld_sync_aligned_16x32bx2:
    x1: _tcgen05_ld_sync_aligned_16x128b_x1
    x128: _tcgen05_ld_sync_aligned_16x128b_x1
    x16: _tcgen05_ld_sync_aligned_16x128b_x1
    x2: _tcgen05_ld_sync_aligned_16x128b_x1
    x32: _tcgen05_ld_sync_aligned_16x128b_x1
    x4: _tcgen05_ld_sync_aligned_16x128b_x1
    x64: _tcgen05_ld_sync_aligned_16x128b_x1
    x8: _tcgen05_ld_sync_aligned_16x128b_x1

class _tcgen05_ld_sync_aligned:
    _16x128b: _tcgen05_ld_sync_aligned_16x128b
    _16x256b: _tcgen05_ld_sync_aligned_16x256b
    _16x32bx2: _tcgen05_ld_sync_aligned_16x32bx2
    _16x64b: _tcgen05_ld_sync_aligned_16x32bx2
    _32x32b: _tcgen05_ld_sync_aligned_16x32bx2

class _tcgen05_ld_sync:
    aligned: _tcgen05_ld_sync_aligned

class _tcgen05_ld:
    red: _tcgen05_ld_red
    sync: _tcgen05_ld_sync

class _tcgen05_mma_cta_group__1_kind__f16_ashift:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    collector__a__discard: _applypriority_L2__evict_normal
    collector__a__lastuse: _applypriority_L2__evict_normal

class _tcgen05_mma_cta_group__1_kind__f16:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    ashift: _tcgen05_mma_cta_group__1_kind__f16_ashift
    collector__a__discard: _applypriority_L2__evict_normal
    collector__a__fill: _applypriority_L2__evict_normal
    collector__a__lastuse: _applypriority_L2__evict_normal
    collector__a__use: _applypriority_L2__evict_normal

class _tcgen05_mma_cta_group__1_kind__mxf4_block_scale_block32:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    collector__a__discard: _applypriority_L2__evict_normal
    collector__a__fill: _applypriority_L2__evict_normal
    collector__a__lastuse: _applypriority_L2__evict_normal
    collector__a__use: _applypriority_L2__evict_normal

class _tcgen05_mma_cta_group__1_kind__mxf4_block_scale:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    block32: _tcgen05_mma_cta_group__1_kind__mxf4_block_scale_block32
    collector__a__discard: _applypriority_L2__evict_normal
    collector__a__fill: _applypriority_L2__evict_normal
    collector__a__lastuse: _applypriority_L2__evict_normal
    collector__a__use: _applypriority_L2__evict_normal
    scale_vec__2X: _tcgen05_mma_cta_group__1_kind__mxf4_block_scale_block32

class _tcgen05_mma_cta_group__1_kind__mxf4:
    block_scale: _tcgen05_mma_cta_group__1_kind__mxf4_block_scale

class _tcgen05_mma_cta_group__1_kind__mxf4nvf4_block_scale:
    block16: _tcgen05_mma_cta_group__1_kind__mxf4_block_scale_block32
    block32: _tcgen05_mma_cta_group__1_kind__mxf4_block_scale_block32
    scale_vec__2X: _tcgen05_mma_cta_group__1_kind__mxf4_block_scale_block32
    scale_vec__4X: _tcgen05_mma_cta_group__1_kind__mxf4_block_scale_block32

class _tcgen05_mma_cta_group__1_kind__mxf4nvf4:
    block_scale: _tcgen05_mma_cta_group__1_kind__mxf4nvf4_block_scale

class _tcgen05_mma_cta_group__1_kind__mxf8f6f4_block_scale:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    block32: _tcgen05_mma_cta_group__1_kind__mxf4_block_scale_block32
    collector__a__discard: _applypriority_L2__evict_normal
    collector__a__fill: _applypriority_L2__evict_normal
    collector__a__lastuse: _applypriority_L2__evict_normal
    collector__a__use: _applypriority_L2__evict_normal
    scale_vec__1X: _tcgen05_mma_cta_group__1_kind__mxf4_block_scale_block32

class _tcgen05_mma_cta_group__1_kind__mxf8f6f4:
    block_scale: _tcgen05_mma_cta_group__1_kind__mxf8f6f4_block_scale

class _tcgen05_mma_cta_group__1:
    kind__f16: _tcgen05_mma_cta_group__1_kind__f16
    kind__f8f6f4: _tcgen05_mma_cta_group__1_kind__f16
    kind__i8: _tcgen05_mma_cta_group__1_kind__f16
    kind__mxf4: _tcgen05_mma_cta_group__1_kind__mxf4
    kind__mxf4nvf4: _tcgen05_mma_cta_group__1_kind__mxf4nvf4
    kind__mxf8f6f4: _tcgen05_mma_cta_group__1_kind__mxf8f6f4
    kind__tf32: _tcgen05_mma_cta_group__1_kind__f16

class _tcgen05_mma_sp:
    cta_group__1: _tcgen05_mma_cta_group__1
    cta_group__2: _tcgen05_mma_cta_group__1

class _tcgen05_mma_ws_cta_group__1_kind__f16:
    def __call__(self, *sources: Any, out: Any = ...) -> None: ...
    collector__b0__discard: _applypriority_L2__evict_normal
    collector__b0__fill: _applypriority_L2__evict_normal
    collector__b0__lastuse: _applypriority_L2__evict_normal
    collector__b0__use: _applypriority_L2__evict_normal
    collector__b1__discard: _applypriority_L2__evict_normal
    collector__b1__fill: _applypriority_L2__evict_normal
    collector__b1__lastuse: _applypriority_L2__evict_normal
    collector__b1__use: _applypriority_L2__evict_normal
    collector__b2__discard: _applypriority_L2__evict_normal
    collector__b2__fill: _applypriority_L2__evict_normal
    collector__b2__lastuse: _applypriority_L2__evict_normal
    collector__b2__use: _applypriority_L2__evict_normal
    collector__b3__discard: _applypriority_L2__evict_normal
    collector__b3__fill: _applypriority_L2__evict_normal
    collector__b3__lastuse: _applypriority_L2__evict_normal
    collector__b3__use: _applypriority_L2__evict_normal

class _tcgen05_mma_ws_cta_group__1:
    kind__f16: _tcgen05_mma_ws_cta_group__1_kind__f16
    kind__f8f6f4: _tcgen05_mma_ws_cta_group__1_kind__f16
    kind__i8: _tcgen05_mma_ws_cta_group__1_kind__f16
    kind__tf32: _tcgen05_mma_ws_cta_group__1_kind__f16

class _tcgen05_mma_ws_sp:
    cta_group__1: _tcgen05_mma_ws_cta_group__1

class _tcgen05_mma_ws:
    cta_group__1: _tcgen05_mma_ws_cta_group__1
    sp: _tcgen05_mma_ws_sp

class _tcgen05_mma:
    cta_group__1: _tcgen05_mma_cta_group__1
    cta_group__2: _tcgen05_mma_cta_group__1
    sp: _tcgen05_mma_sp
    ws: _tcgen05_mma_ws

class _tcgen05_relinquish_alloc_permit_cta_group__1_sync:
    aligned: _applypriority_L2__evict_normal

class _tcgen05_relinquish_alloc_permit_cta_group__1:
    sync: _tcgen05_relinquish_alloc_permit_cta_group__1_sync

class _tcgen05_relinquish_alloc_permit:
    cta_group__1: _tcgen05_relinquish_alloc_permit_cta_group__1
    cta_group__2: _tcgen05_relinquish_alloc_permit_cta_group__1

class _tcgen05_shift_cta_group__1:
    down: _applypriority_L2__evict_normal

class _tcgen05_shift:
    cta_group__1: _tcgen05_shift_cta_group__1
    cta_group__2: _tcgen05_shift_cta_group__1

class _tcgen05_st_sync_aligned_16x128b_x1:
    b32: _applypriority_L2__evict_normal
    unpack__16b: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_and

class _tcgen05_st_sync_aligned_16x128b:
    x1: _tcgen05_st_sync_aligned_16x128b_x1
    x16: _tcgen05_st_sync_aligned_16x128b_x1
    x2: _tcgen05_st_sync_aligned_16x128b_x1
    x32: _tcgen05_st_sync_aligned_16x128b_x1
    x4: _tcgen05_st_sync_aligned_16x128b_x1
    x64: _tcgen05_st_sync_aligned_16x128b_x1
    x8: _tcgen05_st_sync_aligned_16x128b_x1

class _tcgen05_st_sync_aligned_16x256b:
    x1: _tcgen05_st_sync_aligned_16x128b_x1
    x16: _tcgen05_st_sync_aligned_16x128b_x1
    x2: _tcgen05_st_sync_aligned_16x128b_x1
    x32: _tcgen05_st_sync_aligned_16x128b_x1
    x4: _tcgen05_st_sync_aligned_16x128b_x1
    x8: _tcgen05_st_sync_aligned_16x128b_x1

class _tcgen05_st_sync_aligned_16x32bx2:
    x1: _tcgen05_st_sync_aligned_16x128b_x1
    x128: _tcgen05_st_sync_aligned_16x128b_x1
    x16: _tcgen05_st_sync_aligned_16x128b_x1
    x2: _tcgen05_st_sync_aligned_16x128b_x1
    x32: _tcgen05_st_sync_aligned_16x128b_x1
    x4: _tcgen05_st_sync_aligned_16x128b_x1
    x64: _tcgen05_st_sync_aligned_16x128b_x1
    x8: _tcgen05_st_sync_aligned_16x128b_x1

class _tcgen05_st_sync_aligned:
    _16x128b: _tcgen05_st_sync_aligned_16x128b
    _16x256b: _tcgen05_st_sync_aligned_16x256b
    _16x32bx2: _tcgen05_st_sync_aligned_16x32bx2
    _16x64b: _tcgen05_st_sync_aligned_16x32bx2
    _32x32b: _tcgen05_st_sync_aligned_16x32bx2

class _tcgen05_st_sync:
    aligned: _tcgen05_st_sync_aligned

class _tcgen05_st:
    sync: _tcgen05_st_sync

class _tcgen05:
    alloc: _tcgen05_alloc
    commit: _tcgen05_commit
    cp: _tcgen05_cp
    dealloc: _tcgen05_dealloc
    fence__after_thread_sync: _applypriority_L2__evict_normal
    fence__before_thread_sync: _applypriority_L2__evict_normal
    ld: _tcgen05_ld
    mma: _tcgen05_mma
    relinquish_alloc_permit: _tcgen05_relinquish_alloc_permit
    shift: _tcgen05_shift
    st: _tcgen05_st
    wait__ld: _tcgen05_relinquish_alloc_permit_cta_group__1
    wait__st: _tcgen05_relinquish_alloc_permit_cta_group__1

class _tensormap_cp_fenceproxy_global_shared__cta_tensormap__generic_release:
    cluster: _tcgen05_relinquish_alloc_permit_cta_group__1
    cta: _tcgen05_relinquish_alloc_permit_cta_group__1
    gpu: _tcgen05_relinquish_alloc_permit_cta_group__1
    sys: _tcgen05_relinquish_alloc_permit_cta_group__1

class _tensormap_cp_fenceproxy_global_shared__cta_tensormap__generic:
    release: _tensormap_cp_fenceproxy_global_shared__cta_tensormap__generic_release

class _tensormap_cp_fenceproxy_global_shared__cta:
    tensormap__generic: _tensormap_cp_fenceproxy_global_shared__cta_tensormap__generic

class _tensormap_cp_fenceproxy_global:
    shared__cta: _tensormap_cp_fenceproxy_global_shared__cta

class _tensormap_cp_fenceproxy:
    global_: _tensormap_cp_fenceproxy_global

class _tensormap_replace_tile_box_dim_global:
    b1024: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_and

class _tensormap_replace_tile_box_dim:
    b1024: _cp_reduce_async_bulk_shared__cluster_shared__cta_mbarrier__complete_tx__bytes_and
    global_: _tensormap_replace_tile_box_dim_global
    shared__cta: _tensormap_replace_tile_box_dim_global

class _tensormap_replace_tile_global_address_global:
    b1024: _cp_async_mbarrier_arrive_noinc_shared

class _tensormap_replace_tile_global_address:
    b1024: _cp_async_mbarrier_arrive_noinc_shared
    global_: _tensormap_replace_tile_global_address_global
    shared__cta: _tensormap_replace_tile_global_address_global

class _tensormap_replace_tile:
    box_dim: _tensormap_replace_tile_box_dim
    element_stride: _tensormap_replace_tile_box_dim
    elemtype: _tensormap_replace_tile_box_dim
    fill_mode: _tensormap_replace_tile_box_dim
    global_address: _tensormap_replace_tile_global_address
    global_dim: _tensormap_replace_tile_box_dim
    global_stride: _tensormap_replace_tile_global_address
    interleave_layout: _tensormap_replace_tile_box_dim
    rank: _tensormap_replace_tile_box_dim
    swizzle_atomicity: _tensormap_replace_tile_box_dim
    swizzle_mode: _tensormap_replace_tile_box_dim

class _tensormap_replace:
    tile: _tensormap_replace_tile

class _tensormap:
    cp_fenceproxy: _tensormap_cp_fenceproxy
    replace: _tensormap_replace

class _testp:
    finite: _copysign
    infinite: _copysign
    normal: _copysign
    notanumber: _copysign
    number: _copysign
    subnormal: _copysign

class _vabsdiff_s32_s32_s32_sat:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...
    add: _abs_bf16
    max: _abs_bf16
    min: _abs_bf16

class _vabsdiff_s32_s32_s32:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...
    add: _abs_bf16
    max: _abs_bf16
    min: _abs_bf16
    sat: _vabsdiff_s32_s32_s32_sat

class _vabsdiff_s32_s32:
    s32: _vabsdiff_s32_s32_s32
    u32: _vabsdiff_s32_s32_s32

class _vabsdiff_s32:
    s32: _vabsdiff_s32_s32
    u32: _vabsdiff_s32_s32

class _vabsdiff:
    s32: _vabsdiff_s32
    u32: _vabsdiff_s32

class _vabsdiff2_s32_s32_s32:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...
    add: _abs_bf16
    sat: _abs_bf16

class _vabsdiff2_s32_s32:
    s32: _vabsdiff2_s32_s32_s32
    u32: _vabsdiff2_s32_s32_s32

class _vabsdiff2_s32:
    s32: _vabsdiff2_s32_s32
    u32: _vabsdiff2_s32_s32

class _vabsdiff2:
    s32: _vabsdiff2_s32
    u32: _vabsdiff2_s32

class _vmad_s32_s32_s32_po_sat:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...
    shr15: _abs_bf16
    shr7: _abs_bf16

class _vmad_s32_s32_s32_po:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...
    sat: _vmad_s32_s32_s32_po_sat
    shr15: _abs_bf16
    shr7: _abs_bf16

class _vmad_s32_s32_s32:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...
    po: _vmad_s32_s32_s32_po
    sat: _vmad_s32_s32_s32_po_sat
    shr15: _abs_bf16
    shr7: _abs_bf16

class _vmad_s32_s32:
    s32: _vmad_s32_s32_s32
    u32: _vmad_s32_s32_s32

class _vmad_s32:
    s32: _vmad_s32_s32
    u32: _vmad_s32_s32

class _vmad:
    s32: _vmad_s32
    u32: _vmad_s32

class _vote_sync:
    all: _bar_cta_red_and
    any: _bar_cta_red_and
    ballot: _activemask
    uni: _bar_cta_red_and

class _vote:
    all: _bar_cta_red_and
    any: _bar_cta_red_and
    ballot: _activemask
    sync: _vote_sync
    uni: _bar_cta_red_and

class _vset_s32_s32:
    eq: _vabsdiff_s32_s32_s32_sat
    ge: _vabsdiff_s32_s32_s32_sat
    gt: _vabsdiff_s32_s32_s32_sat
    le: _vabsdiff_s32_s32_s32_sat
    lt: _vabsdiff_s32_s32_s32_sat
    ne: _vabsdiff_s32_s32_s32_sat

class _vset_s32:
    s32: _vset_s32_s32
    u32: _vset_s32_s32

class _vset:
    s32: _vset_s32
    u32: _vset_s32

class _vset2_s32_s32_eq:
    def __call__(self, *sources: Any, out: Any = ...) -> Reg: ...
    add: _abs_bf16

class _vset2_s32_s32:
    eq: _vset2_s32_s32_eq
    ge: _vset2_s32_s32_eq
    gt: _vset2_s32_s32_eq
    le: _vset2_s32_s32_eq
    lt: _vset2_s32_s32_eq
    ne: _vset2_s32_s32_eq

class _vset2_s32:
    s32: _vset2_s32_s32
    u32: _vset2_s32_s32

class _vset2:
    s32: _vset2_s32
    u32: _vset2_s32

class _vshl_s32_s32_u32_sat:
    clamp: _vabsdiff_s32_s32_s32_sat
    wrap: _vabsdiff_s32_s32_s32_sat

class _vshl_s32_s32_u32:
    clamp: _vabsdiff_s32_s32_s32_sat
    sat: _vshl_s32_s32_u32_sat
    wrap: _vabsdiff_s32_s32_s32_sat

class _vshl_s32_s32:
    u32: _vshl_s32_s32_u32

class _vshl_s32:
    s32: _vshl_s32_s32
    u32: _vshl_s32_s32

class _vshl:
    s32: _vshl_s32
    u32: _vshl_s32

class _wgmma_mma_async_sp_sync_aligned_m64n104k16_f32_tf32:
    tf32: _applypriority_L2__evict_normal

class _wgmma_mma_async_sp_sync_aligned_m64n104k16_f32:
    tf32: _wgmma_mma_async_sp_sync_aligned_m64n104k16_f32_tf32

class _wgmma_mma_async_sp_sync_aligned_m64n104k16:
    f32: _wgmma_mma_async_sp_sync_aligned_m64n104k16_f32

class _wgmma_mma_async_sp_sync_aligned_m64n104k32_f16_f16:
    f16: _applypriority_L2__evict_normal

class _wgmma_mma_async_sp_sync_aligned_m64n104k32_f16:
    f16: _wgmma_mma_async_sp_sync_aligned_m64n104k32_f16_f16

class _wgmma_mma_async_sp_sync_aligned_m64n104k32_f32:
    bf16: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add_noftz
    f16: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_add_noftz

class _wgmma_mma_async_sp_sync_aligned_m64n104k32:
    f16: _wgmma_mma_async_sp_sync_aligned_m64n104k32_f16
    f32: _wgmma_mma_async_sp_sync_aligned_m64n104k32_f32

class _wgmma_mma_async_sp_sync_aligned_m64n104k64_f16_e4m3:
    e4m3: _applypriority_L2__evict_normal
    e5m2: _applypriority_L2__evict_normal

class _wgmma_mma_async_sp_sync_aligned_m64n104k64_f16:
    e4m3: _wgmma_mma_async_sp_sync_aligned_m64n104k64_f16_e4m3
    e5m2: _wgmma_mma_async_sp_sync_aligned_m64n104k64_f16_e4m3

class _wgmma_mma_async_sp_sync_aligned_m64n104k64:
    f16: _wgmma_mma_async_sp_sync_aligned_m64n104k64_f16
    f32: _wgmma_mma_async_sp_sync_aligned_m64n104k64_f16

class _wgmma_mma_async_sp_sync_aligned_m64n112k64_s32_s8:
    s8: _applypriority_L2__evict_normal
    u8: _applypriority_L2__evict_normal

class _wgmma_mma_async_sp_sync_aligned_m64n112k64_s32:
    s8: _wgmma_mma_async_sp_sync_aligned_m64n112k64_s32_s8
    u8: _wgmma_mma_async_sp_sync_aligned_m64n112k64_s32_s8

class _wgmma_mma_async_sp_sync_aligned_m64n112k64_satfinite:
    s32: _wgmma_mma_async_sp_sync_aligned_m64n112k64_s32

class _wgmma_mma_async_sp_sync_aligned_m64n112k64:
    f16: _wgmma_mma_async_sp_sync_aligned_m64n104k64_f16
    f32: _wgmma_mma_async_sp_sync_aligned_m64n104k64_f16
    s32: _wgmma_mma_async_sp_sync_aligned_m64n112k64_s32
    satfinite: _wgmma_mma_async_sp_sync_aligned_m64n112k64_satfinite

class _wgmma_mma_async_sp_sync_aligned:
    m64n104k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n104k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n104k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n112k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n112k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n112k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n120k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n120k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n120k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n128k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n128k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n128k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n136k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n136k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n136k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n144k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n144k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n144k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n152k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n152k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n152k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n160k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n160k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n160k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n168k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n168k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n168k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n16k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n16k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n16k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n176k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n176k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n176k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n184k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n184k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n184k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n192k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n192k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n192k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n200k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n200k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n200k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n208k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n208k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n208k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n216k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n216k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n216k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n224k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n224k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n224k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n232k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n232k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n232k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n240k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n240k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n240k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n248k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n248k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n248k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n24k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n24k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n24k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n256k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n256k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n256k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n32k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n32k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n32k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n40k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n40k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n40k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n48k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n48k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n48k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n56k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n56k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n56k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n64k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n64k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n64k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n72k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n72k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n72k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n80k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n80k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n80k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n88k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n88k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n88k64: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n8k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n8k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n8k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n96k16: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n96k32: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n96k64: _wgmma_mma_async_sp_sync_aligned_m64n112k64

class _wgmma_mma_async_sp_sync:
    aligned: _wgmma_mma_async_sp_sync_aligned

class _wgmma_mma_async_sp:
    sync: _wgmma_mma_async_sp_sync

class _wgmma_mma_async_sync_aligned_m64n112k256_s32_b1_b1_and:
    popc: _applypriority_L2__evict_normal

class _wgmma_mma_async_sync_aligned_m64n112k256_s32_b1_b1:
    and_: _wgmma_mma_async_sync_aligned_m64n112k256_s32_b1_b1_and

class _wgmma_mma_async_sync_aligned_m64n112k256_s32_b1:
    b1: _wgmma_mma_async_sync_aligned_m64n112k256_s32_b1_b1

class _wgmma_mma_async_sync_aligned_m64n112k256_s32:
    b1: _wgmma_mma_async_sync_aligned_m64n112k256_s32_b1

class _wgmma_mma_async_sync_aligned_m64n112k256:
    s32: _wgmma_mma_async_sync_aligned_m64n112k256_s32

class _wgmma_mma_async_sync_aligned:
    m64n104k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n104k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n104k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n112k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n112k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n112k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n112k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n120k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n120k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n120k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n128k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n128k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n128k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n128k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n136k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n136k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n136k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n144k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n144k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n144k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n144k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n152k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n152k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n152k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n160k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n160k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n160k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n160k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n168k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n168k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n168k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n16k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n16k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n16k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n16k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n176k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n176k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n176k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n176k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n184k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n184k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n184k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n192k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n192k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n192k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n192k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n200k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n200k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n200k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n208k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n208k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n208k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n208k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n216k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n216k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n216k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n224k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n224k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n224k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n224k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n232k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n232k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n232k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n240k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n240k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n240k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n240k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n248k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n248k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n248k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n24k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n24k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n24k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n24k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n256k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n256k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n256k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n256k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n32k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n32k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n32k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n32k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n40k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n40k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n40k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n48k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n48k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n48k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n48k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n56k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n56k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n56k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n64k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n64k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n64k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n64k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n72k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n72k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n72k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n80k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n80k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n80k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n80k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n88k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n88k32: _wgmma_mma_async_sp_sync_aligned_m64n104k64
    m64n88k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n8k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n8k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n8k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n8k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16
    m64n96k16: _wgmma_mma_async_sp_sync_aligned_m64n104k32
    m64n96k256: _wgmma_mma_async_sync_aligned_m64n112k256
    m64n96k32: _wgmma_mma_async_sp_sync_aligned_m64n112k64
    m64n96k8: _wgmma_mma_async_sp_sync_aligned_m64n104k16

class _wgmma_mma_async_sync:
    aligned: _wgmma_mma_async_sync_aligned

class _wgmma_mma_async:
    sp: _wgmma_mma_async_sp
    sync: _wgmma_mma_async_sync

class _wgmma:
    commit_group: _tcgen05_relinquish_alloc_permit_cta_group__1
    fence: _tcgen05_relinquish_alloc_permit_cta_group__1
    mma_async: _wgmma_mma_async
    wait_group: _tcgen05_relinquish_alloc_permit_cta_group__1

class _wmma_load_a_sync_aligned_col_m16n16k16_global:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s8: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u8: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_load_a_sync_aligned_col_m16n16k16:
    bf16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    global_: _wmma_load_a_sync_aligned_col_m16n16k16_global
    s8: _atom_acq_rel_add_L2__cache_hint_v2_f32
    shared: _wmma_load_a_sync_aligned_col_m16n16k16_global
    shared__cta: _wmma_load_a_sync_aligned_col_m16n16k16_global
    u8: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_load_a_sync_aligned_col_m16n16k8_global:
    tf32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_load_a_sync_aligned_col_m16n16k8:
    global_: _wmma_load_a_sync_aligned_col_m16n16k8_global
    shared: _wmma_load_a_sync_aligned_col_m16n16k8_global
    shared__cta: _wmma_load_a_sync_aligned_col_m16n16k8_global
    tf32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_load_a_sync_aligned_col_m8n8k4:
    f64: _atom_acq_rel_add_L2__cache_hint_v2_f32
    global_: _mma_sync_aligned_m16n8k16_row_col_f64_f64_f64
    shared: _mma_sync_aligned_m16n8k16_row_col_f64_f64_f64
    shared__cta: _mma_sync_aligned_m16n8k16_row_col_f64_f64_f64

class _wmma_load_a_sync_aligned_col:
    m16n16k16: _wmma_load_a_sync_aligned_col_m16n16k16
    m16n16k8: _wmma_load_a_sync_aligned_col_m16n16k8
    m32n8k16: _wmma_load_a_sync_aligned_col_m16n16k16
    m8n32k16: _wmma_load_a_sync_aligned_col_m16n16k16
    m8n8k4: _wmma_load_a_sync_aligned_col_m8n8k4

class _wmma_load_a_sync_aligned_row_m8n8k128_global:
    b1: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_load_a_sync_aligned_row_m8n8k128:
    b1: _atom_acq_rel_add_L2__cache_hint_v2_f32
    global_: _wmma_load_a_sync_aligned_row_m8n8k128_global
    shared: _wmma_load_a_sync_aligned_row_m8n8k128_global
    shared__cta: _wmma_load_a_sync_aligned_row_m8n8k128_global

class _wmma_load_a_sync_aligned_row_m8n8k32_global:
    s4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    u4: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_load_a_sync_aligned_row_m8n8k32:
    global_: _wmma_load_a_sync_aligned_row_m8n8k32_global
    s4: _atom_acq_rel_add_L2__cache_hint_v2_f32
    shared: _wmma_load_a_sync_aligned_row_m8n8k32_global
    shared__cta: _wmma_load_a_sync_aligned_row_m8n8k32_global
    u4: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_load_a_sync_aligned_row:
    m16n16k16: _wmma_load_a_sync_aligned_col_m16n16k16
    m16n16k8: _wmma_load_a_sync_aligned_col_m16n16k8
    m32n8k16: _wmma_load_a_sync_aligned_col_m16n16k16
    m8n32k16: _wmma_load_a_sync_aligned_col_m16n16k16
    m8n8k128: _wmma_load_a_sync_aligned_row_m8n8k128
    m8n8k32: _wmma_load_a_sync_aligned_row_m8n8k32
    m8n8k4: _wmma_load_a_sync_aligned_col_m8n8k4

class _wmma_load_a_sync_aligned:
    col: _wmma_load_a_sync_aligned_col
    row: _wmma_load_a_sync_aligned_row

class _wmma_load_a_sync:
    aligned: _wmma_load_a_sync_aligned

class _wmma_load_a:
    sync: _wmma_load_a_sync

class _wmma_load_b_sync_aligned:
    col: _wmma_load_a_sync_aligned_row
    row: _wmma_load_a_sync_aligned_col

class _wmma_load_b_sync:
    aligned: _wmma_load_b_sync_aligned

class _wmma_load_b:
    sync: _wmma_load_b_sync

class _wmma_load_c_sync_aligned_col_m16n16k16_global:
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_load_c_sync_aligned_col_m16n16k16:
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    global_: _wmma_load_c_sync_aligned_col_m16n16k16_global
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    shared: _wmma_load_c_sync_aligned_col_m16n16k16_global
    shared__cta: _wmma_load_c_sync_aligned_col_m16n16k16_global

class _wmma_load_c_sync_aligned_col_m16n16k8:
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    global_: _atom_acq_rel_add_L2__cache_hint_v2
    shared: _atom_acq_rel_add_L2__cache_hint_v2
    shared__cta: _atom_acq_rel_add_L2__cache_hint_v2

class _wmma_load_c_sync_aligned_col_m8n8k128:
    global_: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4_s4
    s32: _atom_acq_rel_add_L2__cache_hint_v2_f32
    shared: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4_s4
    shared__cta: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4_s4

class _wmma_load_c_sync_aligned_col:
    m16n16k16: _wmma_load_c_sync_aligned_col_m16n16k16
    m16n16k8: _wmma_load_c_sync_aligned_col_m16n16k8
    m32n8k16: _wmma_load_c_sync_aligned_col_m16n16k16
    m8n32k16: _wmma_load_c_sync_aligned_col_m16n16k16
    m8n8k128: _wmma_load_c_sync_aligned_col_m8n8k128
    m8n8k32: _wmma_load_c_sync_aligned_col_m8n8k128
    m8n8k4: _wmma_load_a_sync_aligned_col_m8n8k4

class _wmma_load_c_sync_aligned:
    col: _wmma_load_c_sync_aligned_col
    row: _wmma_load_c_sync_aligned_col

class _wmma_load_c_sync:
    aligned: _wmma_load_c_sync_aligned

class _wmma_load_c:
    sync: _wmma_load_c_sync

class _wmma_load:
    a: _wmma_load_a
    b: _wmma_load_b
    c: _wmma_load_c

class _wmma_mma_and_popc_sync_aligned_row_col_m8n8k128_s32_b1:
    b1: _mma_sp_sync_aligned_m16n8k128_row_col_s32_s4_s4

class _wmma_mma_and_popc_sync_aligned_row_col_m8n8k128_s32:
    b1: _wmma_mma_and_popc_sync_aligned_row_col_m8n8k128_s32_b1

class _wmma_mma_and_popc_sync_aligned_row_col_m8n8k128:
    s32: _wmma_mma_and_popc_sync_aligned_row_col_m8n8k128_s32

class _wmma_mma_and_popc_sync_aligned_row_col:
    m8n8k128: _wmma_mma_and_popc_sync_aligned_row_col_m8n8k128

class _wmma_mma_and_popc_sync_aligned_row:
    col: _wmma_mma_and_popc_sync_aligned_row_col

class _wmma_mma_and_popc_sync_aligned:
    row: _wmma_mma_and_popc_sync_aligned_row

class _wmma_mma_and_popc_sync:
    aligned: _wmma_mma_and_popc_sync_aligned

class _wmma_mma_and_popc:
    sync: _wmma_mma_and_popc_sync

class _wmma_mma_and:
    popc: _wmma_mma_and_popc

class _wmma_mma_sync_aligned_col_col_m16n16k16_f32:
    bf16: _mma_sp_sync_aligned_m16n8k16_row_col_f32_bf16
    f16: _atom_acq_rel_add_L2__cache_hint_v2_f32
    f32: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8_s8_s32:
    def __call__(self, *sources: Any, out: Any = ...) -> tuple[Reg, ...]: ...
    satfinite: _atom_acq_rel_add_L2__cache_hint_v2_f32

class _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8_s8:
    s32: _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8_s8_s32

class _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8:
    s8: _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8_s8
    u8: _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8_s8

class _wmma_mma_sync_aligned_col_col_m16n16k16_s32:
    s8: _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8
    u8: _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8

class _wmma_mma_sync_aligned_col_col_m16n16k16:
    f16: _mma_sync_aligned_m8n8k4_col_col_f32_f16_f16
    f32: _wmma_mma_sync_aligned_col_col_m16n16k16_f32
    s32: _wmma_mma_sync_aligned_col_col_m16n16k16_s32

class _wmma_mma_sync_aligned_col_col_m8n8k4:
    f64: _mma_sync_aligned_m16n8k16_row_col_f64
    rm: _mma_sync_aligned_m16n8k16_row_col_rm
    rn: _mma_sync_aligned_m16n8k16_row_col_rm
    rp: _mma_sync_aligned_m16n8k16_row_col_rm
    rz: _mma_sync_aligned_m16n8k16_row_col_rm

class _wmma_mma_sync_aligned_col_col:
    m16n16k16: _wmma_mma_sync_aligned_col_col_m16n16k16
    m16n16k8: _mma_sp_sync_aligned_m16n8k8_row_col
    m32n8k16: _wmma_mma_sync_aligned_col_col_m16n16k16
    m8n32k16: _wmma_mma_sync_aligned_col_col_m16n16k16
    m8n8k4: _wmma_mma_sync_aligned_col_col_m8n8k4

class _wmma_mma_sync_aligned_col:
    col: _wmma_mma_sync_aligned_col_col
    row: _wmma_mma_sync_aligned_col_col

class _wmma_mma_sync_aligned_row_col_m8n8k32_s32_s4:
    s4: _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8_s8
    u4: _wmma_mma_sync_aligned_col_col_m16n16k16_s32_s8_s8

class _wmma_mma_sync_aligned_row_col_m8n8k32_s32:
    s4: _wmma_mma_sync_aligned_row_col_m8n8k32_s32_s4
    u4: _wmma_mma_sync_aligned_row_col_m8n8k32_s32_s4

class _wmma_mma_sync_aligned_row_col_m8n8k32:
    s32: _wmma_mma_sync_aligned_row_col_m8n8k32_s32

class _wmma_mma_sync_aligned_row_col:
    m16n16k16: _wmma_mma_sync_aligned_col_col_m16n16k16
    m16n16k8: _mma_sp_sync_aligned_m16n8k8_row_col
    m32n8k16: _wmma_mma_sync_aligned_col_col_m16n16k16
    m8n32k16: _wmma_mma_sync_aligned_col_col_m16n16k16
    m8n8k32: _wmma_mma_sync_aligned_row_col_m8n8k32
    m8n8k4: _wmma_mma_sync_aligned_col_col_m8n8k4

class _wmma_mma_sync_aligned_row:
    col: _wmma_mma_sync_aligned_row_col
    row: _wmma_mma_sync_aligned_col_col

class _wmma_mma_sync_aligned:
    col: _wmma_mma_sync_aligned_col
    row: _wmma_mma_sync_aligned_row

class _wmma_mma_sync:
    aligned: _wmma_mma_sync_aligned

class _wmma_mma:
    and_: _wmma_mma_and
    sync: _wmma_mma_sync
    xor: _wmma_mma_and

class _wmma_store_d_sync_aligned_col_m16n16k16_global:
    f16: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    s32: _applypriority_L2__evict_normal

class _wmma_store_d_sync_aligned_col_m16n16k16:
    f16: _applypriority_L2__evict_normal
    f32: _applypriority_L2__evict_normal
    global_: _wmma_store_d_sync_aligned_col_m16n16k16_global
    s32: _applypriority_L2__evict_normal
    shared: _wmma_store_d_sync_aligned_col_m16n16k16_global
    shared__cta: _wmma_store_d_sync_aligned_col_m16n16k16_global

class _wmma_store_d_sync_aligned_col_m16n16k8:
    f32: _applypriority_L2__evict_normal
    global_: _red_add_L2__cache_hint_v2
    shared: _red_add_L2__cache_hint_v2
    shared__cta: _red_add_L2__cache_hint_v2

class _wmma_store_d_sync_aligned_col_m8n8k128_global:
    s32: _applypriority_L2__evict_normal

class _wmma_store_d_sync_aligned_col_m8n8k128:
    global_: _wmma_store_d_sync_aligned_col_m8n8k128_global
    s32: _applypriority_L2__evict_normal
    shared: _wmma_store_d_sync_aligned_col_m8n8k128_global
    shared__cta: _wmma_store_d_sync_aligned_col_m8n8k128_global

class _wmma_store_d_sync_aligned_col_m8n8k4_global:
    f64: _applypriority_L2__evict_normal

class _wmma_store_d_sync_aligned_col_m8n8k4:
    f64: _applypriority_L2__evict_normal
    global_: _wmma_store_d_sync_aligned_col_m8n8k4_global
    shared: _wmma_store_d_sync_aligned_col_m8n8k4_global
    shared__cta: _wmma_store_d_sync_aligned_col_m8n8k4_global

class _wmma_store_d_sync_aligned_col:
    m16n16k16: _wmma_store_d_sync_aligned_col_m16n16k16
    m16n16k8: _wmma_store_d_sync_aligned_col_m16n16k8
    m32n8k16: _wmma_store_d_sync_aligned_col_m16n16k16
    m8n32k16: _wmma_store_d_sync_aligned_col_m16n16k16
    m8n8k128: _wmma_store_d_sync_aligned_col_m8n8k128
    m8n8k32: _wmma_store_d_sync_aligned_col_m8n8k128
    m8n8k4: _wmma_store_d_sync_aligned_col_m8n8k4

class _wmma_store_d_sync_aligned:
    col: _wmma_store_d_sync_aligned_col
    row: _wmma_store_d_sync_aligned_col

class _wmma_store_d_sync:
    aligned: _wmma_store_d_sync_aligned

class _wmma_store_d:
    sync: _wmma_store_d_sync

class _wmma_store:
    d: _wmma_store_d

class _wmma:
    load: _wmma_load
    mma: _wmma_mma
    store: _wmma_store

class SpecialVector:
    w: Special
    x: Special
    y: Special
    z: Special

class Kernel:
    name: str
    def __init__(self, name: str, /, **params: str) -> None: ...
    def op(self, op: str, *sources: Any, out: Any=None) -> Any: ...
    @contextmanager
    def when(self, predicate: Reg | Not) -> Iterator[None]: ...
    @contextmanager
    def branch(self, predicate: Reg | Not) -> Iterator[None]: ...
    @contextmanager
    def otherwise(self) -> Iterator[None]: ...
    @contextmanager
    def loop(self, start: Any, stop: Any, step: int=1, *, name: str='loop', type: str | None=None, unroll: bool=False) -> Iterator[Reg]: ...
    def label(self, name: str) -> Label: ...
    def forward(self, name: str) -> Label: ...
    def place(self, label: Label) -> None: ...
    def pragma(self, text: str) -> None: ...
    def reg(self, type: str, count: int | None=None) -> Any: ...
    def shared(self, name: str, type: str, count: int | Sequence[int]=1, *, align: int | None=None) -> Symbol: ...
    def local(self, name: str, type: str, count: int | Sequence[int]=1, *, align: int | None=None) -> Symbol: ...
    def dynamic_shared(self, name: str, type: str='b8', *, align: int=16) -> Symbol: ...
    def alignment(self, variable: Symbol) -> int | None: ...
    def here(self) -> Place: ...
    def params(self) -> tuple[Any, ...]: ...
    def param(self, name: str) -> Any: ...
    def global_index(self, axis: str='x') -> Reg: ...
    def segment_mask(self, width: int) -> Reg: ...
    def maxntid(self, x: int, y: int=1, z: int=1) -> None: ...
    def reqntid(self, x: int, y: int=1, z: int=1) -> None: ...
    def minnctapersm(self, count: int) -> None: ...
    def maxnreg(self, count: int) -> None: ...
    def reqnctapercluster(self, x: int, y: int=1, z: int=1) -> None: ...
    def function(self) -> Function: ...
    def items(self) -> tuple[Item, ...]: ...
    def unchecked(self) -> tuple[Item, ...]: ...
    def mistakes(self) -> Iterator[PtxError]: ...
    def __str__(self) -> str: ...
    aggr_smem_size: Special
    clock64: Special
    clock: Special
    clock_hi: Special
    cluster_ctaid: SpecialVector
    cluster_ctarank: Special
    cluster_nctaid: SpecialVector
    cluster_nctarank: Special
    clusterid: SpecialVector
    ctaid: SpecialVector
    current_graph_exec: Special
    dynamic_smem_size: Special
    envreg0: Special
    envreg10: Special
    envreg11: Special
    envreg12: Special
    envreg13: Special
    envreg14: Special
    envreg15: Special
    envreg16: Special
    envreg17: Special
    envreg18: Special
    envreg19: Special
    envreg1: Special
    envreg20: Special
    envreg21: Special
    envreg22: Special
    envreg23: Special
    envreg24: Special
    envreg25: Special
    envreg26: Special
    envreg27: Special
    envreg28: Special
    envreg29: Special
    envreg2: Special
    envreg30: Special
    envreg31: Special
    envreg3: Special
    envreg4: Special
    envreg5: Special
    envreg6: Special
    envreg7: Special
    envreg8: Special
    envreg9: Special
    globaltimer: Special
    globaltimer_hi: Special
    globaltimer_lo: Special
    gridid: Special
    is_explicit_cluster: Special
    laneid: Special
    lanemask_eq: Special
    lanemask_ge: Special
    lanemask_gt: Special
    lanemask_le: Special
    lanemask_lt: Special
    nclusterid: SpecialVector
    nctaid: SpecialVector
    nsmid: Special
    ntid: SpecialVector
    nwarpid: Special
    pm0: Special
    pm0_64: Special
    pm1: Special
    pm1_64: Special
    pm2: Special
    pm2_64: Special
    pm3: Special
    pm3_64: Special
    pm4: Special
    pm4_64: Special
    pm5: Special
    pm5_64: Special
    pm6: Special
    pm6_64: Special
    pm7: Special
    pm7_64: Special
    reserved_smem_offset_0: Special
    reserved_smem_offset_1: Special
    reserved_smem_offset_begin: Special
    reserved_smem_offset_cap: Special
    reserved_smem_offset_end: Special
    smid: Special
    tid: SpecialVector
    total_smem_size: Special
    warpid: Special
    abs: _abs
    activemask: _activemask
    add: _add
    addc: _addc
    alloca: _alloca
    and_: _and
    applypriority: _applypriority
    atom: _atom
    bar: _bar
    barrier: _barrier
    bfe: _add_cc
    bfi: _atom_acq_rel_and_L2__cache_hint
    bfind: _bfind
    bmsk: _bmsk
    bra: _bra
    brev: _atom_acq_rel_and_L2__cache_hint
    brkpt: _applypriority_L2__evict_normal
    brx: _brx
    call: _call
    clusterlaunchcontrol: _clusterlaunchcontrol
    clz: _atom_acq_rel_and_L2__cache_hint
    cnot: _cnot
    copysign: _copysign
    cos: _cos
    cp: _cp
    createpolicy: _createpolicy
    cvt: _cvt
    cvta: _cvta
    discard: _discard
    div: _div
    dp2a: _dp2a
    dp4a: _dp2a_hi
    elect: _elect
    ex2: _ex2
    exit: _applypriority_L2__evict_normal
    fence: _fence
    fma: _fma
    fns: _activemask
    getctarank: _getctarank
    griddepcontrol: _griddepcontrol
    isspacep: _isspacep
    ld: _ld
    ldmatrix: _ldmatrix
    ldu: _ldu
    lg2: _cos
    lop3: _lop3
    mad: _mad
    mad24: _mad24
    madc: _madc
    mapa: _getctarank
    match: _match
    max: _max
    mbarrier: _mbarrier
    membar: _membar
    min: _max
    mma: _mma
    mov: _mov
    movmatrix: _movmatrix
    mul: _mul
    mul24: _mul24
    multimem: _multimem
    nanosleep: _cp_reduce_async_bulk_global_shared__cta_bulk_group_L2__cache_hint_dec
    neg: _abs
    not_: _and
    or_: _and
    pmevent: _pmevent
    popc: _atom_acq_rel_and_L2__cache_hint
    prefetch: _prefetch
    prefetchu: _prefetchu
    prmt: _prmt
    rcp: _rcp
    red: _red
    redux: _redux
    rem: _mul_hi
    ret: _bra
    rsqrt: _rsqrt
    sad: _mul_hi
    selp: _selp
    set: _set
    setmaxnreg: _setmaxnreg
    setp: _setp
    shf: _shf
    shfl: _shfl
    shl: _cnot
    shr: _shr
    sin: _cos
    slct: _slct
    sqrt: _sqrt
    st: _st
    stackrestore: _stackrestore
    stacksave: _alloca
    stmatrix: _stmatrix
    sub: _sub
    subc: _addc
    szext: _szext
    tanh: _tanh
    tcgen05: _tcgen05
    tensormap: _tensormap
    testp: _testp
    trap: _applypriority_L2__evict_normal
    vabsdiff: _vabsdiff
    vabsdiff2: _vabsdiff2
    vabsdiff4: _vabsdiff2
    vadd: _vabsdiff
    vadd2: _vabsdiff2
    vadd4: _vabsdiff2
    vavrg2: _vabsdiff2
    vavrg4: _vabsdiff2
    vmad: _vmad
    vmax: _vabsdiff
    vmax2: _vabsdiff2
    vmax4: _vabsdiff2
    vmin: _vabsdiff
    vmin2: _vabsdiff2
    vmin4: _vabsdiff2
    vote: _vote
    vset: _vset
    vset2: _vset2
    vset4: _vset2
    vshl: _vshl
    vshr: _vshl
    vsub: _vabsdiff
    vsub2: _vabsdiff2
    vsub4: _vabsdiff2
    wgmma: _wgmma
    wmma: _wmma
    xor: _and
