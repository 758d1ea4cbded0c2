"""The pure core: decide, evolve and outstanding, with legality written as tables."""
