"""Typed settings, read once at the edge: flags, then environment, then file."""
