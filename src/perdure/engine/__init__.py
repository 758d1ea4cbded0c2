"""The native runtime: load, decide, append, dispatch, written against the ports."""
