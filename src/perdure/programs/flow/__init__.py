"""The flow interpreter: a graph of nodes, walked by resolving its edges."""
