"""Foreign documents translated into the model, and back out."""
