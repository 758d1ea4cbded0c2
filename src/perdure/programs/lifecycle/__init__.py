"""The lifecycle interpreter: durable state machines for business objects."""
