"""Text that users write inside documents: ${ } expressions, {{ }} templates and paths."""
