"""The HTTP edge: translates between requests and the service layer, and nothing else."""
