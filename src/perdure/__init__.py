"""Perdure: durable workflows in Python. Flows, code and lifecycles on one small kernel."""

__version__ = "0.1.0"
