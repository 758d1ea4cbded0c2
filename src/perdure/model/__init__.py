"""Frozen facts: events, commands, effects, documents, ids, policies, their codec and JSON Schemas."""
