"""From the tree to Python. One class, in layers: each file adds what it is named after.

Every value of the script becomes a Python expression, every closure a lambda or a function. Python names say what they
are by how they begin: `g_` what is given to the script or set in it without def, `v_` its other variables, `f_` its
closures and methods, `t_` what the translation needs in between; the functions of the prelude begin otherwise. Text of
the script comes out only inside string literals and, with everything but ASCII letters and digits taken away, behind
these letters; so nothing that a script says can mean something in Python.
"""
