"""Calls to other machines, for every node that makes any: one client, one guard, one set of limits.

    addresses   which addresses belong to the public internet, and why the others do not
    policy      what the operator allows beyond them
    urls        which URLs and headers are taken at all
    client      connections, deadlines, redirects, sizes
    failures    what can go wrong, as failures of an activation

`client` is imported when the first call is made: a process that makes none does not pay for it.
"""
