"""The same programs hosted on a Temporal cluster, as a backend beside the engine."""
