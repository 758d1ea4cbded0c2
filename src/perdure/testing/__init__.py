"""Shipped test tools: virtual clock, fault injection, contract suites, replay."""
