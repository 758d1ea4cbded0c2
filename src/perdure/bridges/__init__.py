"""Event brokers, in and out."""
