"""What size costs: long chains, many sleepers, long loops, large payloads. Each measured in a process of its own."""
