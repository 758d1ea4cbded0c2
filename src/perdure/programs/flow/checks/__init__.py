"""What validation at save looks at, one concern per module. Each check yields problems and never raises.

sketch       the document as far as it can be made out
shape        fields, their types and ranges
structure    ids, edges, starts, parents, cycles, reachability
references   nodes that are named elsewhere than in edges
configs      node types, their configurations and outcomes
writing      expressions and templates, and the names in them
options      schedule, time zone, limits, schema
"""
