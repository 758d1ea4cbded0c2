"""JSONPath, as RFC 9535 has it.

    path = compile_jsonpath("$.orders[?@.total > 100 && match(@.status, 'PAID|SENT')].id")
    path.find(document)       # the values, a list
    path.nodes(document)      # the same with their normalized paths: [("$['orders'][3]['id']", 17)]
    path.first(document, 0)   # the first of them, or 0

Everything that the RFC says of a query's form is checked when it is compiled, the types of functions included, and the
error says where and what would be right. Whether a query finds something is never an error: a name that is not there
selects nothing. The only error while a query runs is a limit, because `$..*..*..*` is ten characters long.

    reading               characters: blanks, names, numbers, text
    parser → filters      text to `syntax`; filters also to types
    functions             length, count, match, search, value, and the types that they declare
    selecting, filtering  `syntax` to Python functions: what a query selects; what a filter thinks of a value
"""

from __future__ import annotations

from perdure.expressions.jsonpath.query import JsonPath, compile_jsonpath

__all__ = ["JsonPath", "compile_jsonpath"]
