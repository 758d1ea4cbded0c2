"""Metrics, traces and logs, as listeners."""
