"""What the engine and the service need of a store, in verbs. Protocols only; each has one contract suite.

The contract suites live in `perdure.testing.contracts` and run over every implementation in one go. A `Store` bundles
the ports of one database; nothing else may reach around them.
"""
