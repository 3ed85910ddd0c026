"""GEMM kernels, one short file per family."""
