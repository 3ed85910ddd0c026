"""Broken kernels by an author who had not read the emulator, each with its mended twin."""
