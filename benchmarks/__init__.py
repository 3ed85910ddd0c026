"""Measurements. ``python -m benchmarks`` runs what this machine can."""
