"""Graphs that were drawn in, or written for, Yantra: read, checked and run unchanged.

    signs          is a document one of these?
    drawing        what is drawn: nodes and edges, with their places, and what is wrong with them
    bodies         which nodes are run once per item of which loop, and which edges are never followed
    configs        the configuration of each node type, as ours have it
    conditions     conditions on edges and in rows, as expressions
    texts          `{{ }}` in texts
    translation    all of that together: a flow, and the way back from its places to those of the document
    names          what bare names mean in these documents
    triggers       when such a flow is started: by hand, by a clock, by a web hook
    dialect        the dialect itself

docs/how-to/bring-yantra-graphs.md shows it; docs/reference/yantra.md says what differs from the original, and why.
"""

from perdure.dialects.yantra.dialect import Yantra
from perdure.dialects.yantra.triggers import Trigger, triggers_of

__all__ = ["Trigger", "Yantra", "triggers_of"]
