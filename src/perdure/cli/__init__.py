"""The command line edge."""
