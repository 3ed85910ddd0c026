"""Control flow and its kin (PTX ISA 9.0, sections 9.7.12 and 9.7.19)."""

from ptx.isa.notation import row

# fmt: off
# ---------------------------------------------------------------- 9.7.12 control flow
# targets: the label of a .branchtargets; proto: of a .callprototype or a .calltargets.
row("bra{.uni}      target:label", effect="branch")
row("brx.idx{.uni}  a:u32, targets:label", effect="branch")
row("call{.uni}     (d), f:func, (a)", effect="call")
row("call{.uni}     f:func, (a)", effect="call")
row("call{.uni}     f:func", effect="call")
row("call{.uni}     (d), %f:u64, (a), proto:label", effect="call")
row("call{.uni}     %f:u64, (a), proto:label", effect="call")
row("call{.uni}     %f:u64, proto:label", effect="call")
row("ret{.uni}", effect="return")
row("exit", effect="exit")

# ---------------------------------------------------------------- 9.7.19 miscellaneous
row("brkpt")
row("nanosleep.u32      t", sm=70, ptx="6.2")   # the manual: PTX 6.3
row("pmevent            event", event=range(16))
row("pmevent.mask       events", events=range(2**16))
row("trap", effect="trap")
row("setmaxnreg.action.sync.aligned.u32  registers", action="inc dec", registers=range(24, 257, 8), sm="90a 100f 110f 120f", ptx="8.0", effect="collective warpgroup")
