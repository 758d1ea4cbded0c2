"""Use cases without HTTP words: definitions, runs, checks. REST, CLI and the Python API are thin over these."""
