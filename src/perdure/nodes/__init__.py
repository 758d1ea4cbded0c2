"""The node catalogue: one file per node type, one JSON Schema per configuration."""
