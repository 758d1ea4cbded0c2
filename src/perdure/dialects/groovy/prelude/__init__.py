"""What the generated Python brings along: Groovy's rules where they are not Python's.

These modules are ordinary Python, checked and tested as such, but they run somewhere else: `library.py` copies the
source of the functions that a script needs in front of it, without annotations and docstrings. So they keep to what the
sandbox (pydantic-monty) can do: no `del`, no `yield`, no classes, exceptions with one string. Names are unique in the
whole package, and none begins with `g_`, `v_`, `f_` or `t_`, which belong to the script.

Values are JSON's, and three more: a `Decimal` is a BigDecimal, a `datetime` in UTC is a Date, and a pair of key and
value in a tuple is a Map.Entry. Python takes exactly those values for false that Groovy takes for false, so conditions
need no function at all. Nothing here looks up an attribute by a name from the script.

Most scripts know no dates. For those the branches that begin with `if isinstance(…, datetime)` are left out, and with
them all that only they need; that is why dates are asked for in that form and no other.
"""
