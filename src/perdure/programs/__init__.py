"""Interpreters behind one protocol, blind to one another: flow, code and lifecycle."""
