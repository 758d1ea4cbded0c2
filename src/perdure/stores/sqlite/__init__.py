"""The store on one SQLite file with a single writer."""
