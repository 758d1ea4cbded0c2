"""Groovy scripts of Drift documents, translated into Python for the sandbox.

text → tokens (`lexer`) → tree (`parsing`, `syntax`) → Python (`emitting`) and the functions of `prelude` that it needs.
What cannot be translated is refused when a document is saved, all of it at once, with line, column and what to do.
"""

from __future__ import annotations

from perdure.dialects.groovy.emitting.names import BINDINGS
from perdure.dialects.groovy.translation import Translation, check_groovy, translate

__all__ = ["BINDINGS", "Translation", "check_groovy", "translate"]
