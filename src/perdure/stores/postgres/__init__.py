"""The store on PostgreSQL, shared by a fleet of workers."""
