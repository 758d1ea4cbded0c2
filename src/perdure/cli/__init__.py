"""The command line: thin over the service layer. Each command imports what it needs, so that `--help` is quick."""
