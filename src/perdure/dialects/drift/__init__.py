"""Drift's workflows: `states` that name the next, and node definitions that are stored by themselves or stand inside.

words, details, sheet   what a document says, as far as it can be made out
node_definitions, checks   what is wrong with it
nodes, translation   the same as a flow of ours
context, paths   what its scripts, templates and parameters read
"""

from __future__ import annotations

from perdure.dialects.drift.dialect import Drift

__all__ = ["Drift"]
