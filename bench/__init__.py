"""Benchmarks: the cells that the peers are measured with, and micro benchmarks of single layers."""
