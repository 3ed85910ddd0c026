"""General matrix products on NVIDIA GPUs, written in PTX with :mod:`ptx`."""

from ptx import __version__ as __version__
