"""Settings in, running parts out: the only module that names concrete classes."""
