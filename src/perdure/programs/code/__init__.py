"""The code interpreter: durable functions replayed from their recorded results."""
