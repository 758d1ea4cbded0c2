"""What a script sees, what its value is, and how it may reach into its data."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.engine.handlers import ActivationError
from perdure.model.lookups import nested
from tests.nodes.scripts.conftest import Run

pytestmark = pytest.mark.asyncio(loop_scope="module")

ORDER = {
    "id": "OD-9",
    "items": [{"sku": "A1", "price": 20, "qty": 2}, {"sku": "B2", "price": 150, "qty": 1}],
    "customer": {"name": "Ada", "tags": ["new", "vip"]},
    "none": None,
}
BINDINGS: dict[str, Any] = {
    "_global": {"order": ORDER, "my-node": {"x": 1}},
    "_enum_store": nested({"pay.host": "127.0.0.1", "lists": {"colours": ["red"]}}),
    "_thread": {"tenant": "shop"},
    "input": {"n": 3},
    "vars": {"total": 7},
    "data": {"y": [1, 2]},
    "item": {"z": 5},
}

VALUES: list[tuple[str, Any]] = [
    # the value of a script
    ("return 1", 1),
    ("1 + 1", 2),
    ("x = 1; x + 1", 2),
    ("if input.n > 2:\n    return 'many'\nreturn 'few'", "many"),
    ("if input.n > 5:\n    return 'many'\n'few'", "few"),
    ("for i in [1, 2, 3]:\n    if i * i > 3:\n        return i", 2),
    ("result = [1]\nfor i in [2, 3]:\n    result.append(i)", [1, 2, 3]),
    ("result = 1\nif result:\n    x = 2", 1),
    ("result = 1\nresult + 1", 2),
    ("x = 1", None),
    ("'a text'", "a text"),
    ('"""two\nlines"""', "two\nlines"),
    ("x = '''\n  a\n    b'''\nx", "\n  a\n    b"),
    ("x = ('a'\n'b')\nx", "ab"),
    ("def f(a, b=2, *c, d, **e):\n\treturn [a, b, c, d, e]\nf(1, d=4, z=5)", [1, 2, [], 4, {"z": 5}]),
    ("x = [\n  1,\n\n  2, # two\n]\nx", [1, 2]),
    ("x = 1 + \\\n  2\nx", 3),
    ("# only words\n\n5  # and a value", 5),
    ("print('seen')\n5", 5),
    ("from datetime import datetime\ndatetime.now().isoformat()", "2023-11-21T10:00:00.123000"),
    # as JSON
    ("[(1, 2), None, True, 1.5, 'é\\u2028😀', 2**80, -0.0]", [[1, 2], None, True, 1.5, "é\u2028😀", 2**80, -0.0]),
    ("{1: 2, None: 3}", {"1": 2, "null": 3}),
    ("from decimal import Decimal\n[Decimal('1.50'), Decimal(2)]", [1.5, 2]),
    ("import datetime as d\n[d.datetime(2020, 1, 2, 3), d.date(2020, 1, 2), d.timedelta(hours=1)]",
     ["2020-01-02T03:00:00", "2020-01-02", 3600.0]),
    ("[{3}, frozenset([4]), ({'a': {5}},)]", [[3], [4], [{"a": [5]}]]),
    # what it sees (B08, D01, D02, D04)
    ("[_global.order.id, _thread.tenant, _enum_store.lists.colours[0], input.n, vars.total, data.y]",
     ["OD-9", "shop", "red", 3, 7, [1, 2]]),
    ("[_enum_store.pay.host, _enum_store['pay.host'], _enum_store['pay']['host']]", ["127.0.0.1"] * 3),
    ("item.z", 5),
    ("_global['my-node'].x", 1),
    # attributes are keys of dicts, and attributes of all else
    ("_global['order']['customer']['name']", "Ada"),
    ("_global.order.customer.name.upper()", "ADA"),
    ("(_global\n  # by.name\n  .order . customer\n  .name)", "Ada"),
    ("(_global).order['customer'].name", "Ada"),
    ("_global.order.get('id') + _global.order.get('nothing', '?')", "OD-9?"),
    ("_global.get('nothing', {}).get('deeper')", None),
    ("_global.get('order').id", "OD-9"),
    ("_global.order.items[1].sku", "B2"),
    ("list(_global.order.customer.items())[0]", ["name", "Ada"]),
    ("sum(line.price * line.qty for line in _global.order.items)", 190),
    ("order = _global.order\nfirst = order.items[0]\nfirst.sku + order.customer.name", "A1Ada"),
    ("[line.sku for line in sorted(_global.order.items, key=lambda line: -line.price)]", ["B2", "A1"]),
    ("def name(who):\n    return who.name\nname(_global.order.customer)", "Ada"),
    ("{'a': {'b': 1}}.a.b", 1),
    ("order = dict(_global.order)\norder.total = 5\norder.total += 1\norder.total", 6),
    ("_global.order.total = 5\n_global.order.total += 1\n_global.order.total", 6),
    ("_global.order['total'] = 5\n[_global.order.total, _global.order.id]", [5, "OD-9"]),
    ("_global.new = {}\n_global.new.x = 1\n_global.new", {"x": 1}),
    ("data = data.y\ndata.append(3)\ndata", [1, 2, 3]),
    ("data = data or {}\ndata.z = 1\ndata", {"y": [1, 2], "z": 1}),
    ("if input.n > 100:\n    data = {'y': 0}\ndata.y", [1, 2]),
    ("for item in [1, 2]:\n    last = item\n[item, last]", [2, 2]),
    ("[x.n for x in [input]]", [3]),
    ("type = _global.order.customer\ntype.name", "Ada"),
    ("[id.sku for id in _global.order.items]", ["A1", "B2"]),
    ("(lambda object: object.n)(input)", 3),
    ("def f(data):\n    return data.q\nf({'q': 1})", 1),
    ("f'{_global.order.id} of {_thread.tenant!r}: {input.n:>3}|{vars.total:{input.n}}'", "OD-9 of 'shop':   3|  7"),
    ("f'''{_global.order.id}\n{\n  input.n}''' + 'x'", "OD-9\n3x"),
    ("f'{input.n=} {{}} {\"a\" + _thread.tenant}'", "input.n=3 {} ashop"),
    ("f'{f\"{input.n}\"}{1}'", "31"),
    ("f'no attributes {1 + 1}'", "no attributes 2"),
    ("import math\nimport datetime\n[math.floor(math.pi), datetime.timezone.utc is not None]", [3, True]),
    ("from datetime import datetime\nthen = datetime(2020, 5, 1)\nthen.year", 2020),
    ("import re\nre.match('(?P<a>.)', 'xy').group('a')", "x"),
    ("class P:\n    kind = 'p'\n    def __init__(self, x):\n        self.x = x\np = P(4)\np.x = p.x + 1\n[p.x, P.kind]",
     [5, "p"]),
    ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int = 2\nP(1).y", 2),
    ("match _global.order:\n    case {'id': id, 'customer': {'name': name}}:\n        return [id, name]",
     ["OD-9", "Ada"]),
    ("try:\n    _global.order.none.deeper\nexcept TypeError as problem:\n    return str(problem)",
     "'NoneType' object is not subscriptable"),
    ("try:\n    _global.nothing\nexcept KeyError:\n    return 'absent'", "absent"),
    ("count = 0\ndef more():\n    nonlocal count\n    count += 1\nmore()\nmore()\ncount", 2),
    ("def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(10)", 55),
    ("é = {'ü': 1}\né.ü + len('😀') + input.n", 5),
    ("[(y := line.price) for line in _global.order.items]\ny", 150),
    ("a, *b = data.y\n[a, b]", [1, [2]]),
    ("x = y = input.n\nx, y = y, x + 1\n[x, y]", [3, 4]),
    ("with_default = lambda x=input.n: x\nwith_default()", 3),
    ("{k: v for k, v in input.items()}", {"n": 3}),
    ("len(_global.order), 'id' in _global.order", [4, True]),
    ("total: int = 0\nfor line in _global.order.items: total += line.qty\ntotal", 3),
]  # fmt: skip


@pytest.mark.parametrize(("source", "value"), VALUES, ids=[ascii(source)[:60] for source, _ in VALUES])
async def test_a_script_has_this_value(run: Run, source: str, value: Any) -> None:
    found = await run(source, **BINDINGS)
    assert (found, type(found)) == (value, type(value))


GROOVY: list[tuple[str, Any]] = [
    ("_global.order.items.sum { it.price * it.qty }", 190),
    ("\"${_thread.tenant}: ${_enum_store.pay.host} ${input.n} ${vars.total}\"", "shop: 127.0.0.1 3 7"),
    ("def x = _global.order\nx.total = 5\nreturn [x.total, _global.order.total]", [5, 5]),
    ("_global.missing?.x ?: 'none'", "none"),
    ("new Date().time", 1_700_560_800_123),
    ("99.99 * 3", 299.97),
]  # fmt: skip


@pytest.mark.parametrize(("source", "value"), GROOVY)
async def test_groovy_has_this_value(run: Run, source: str, value: Any) -> None:
    assert await run(source, "groovy", **BINDINGS) == value


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("lambda: 1", "TypeError: the value of a script is JSON, but there is a function in it"),
        ("[1, {'a': b'x'}]", "TypeError: the value of a script is JSON, but there is a bytes in it"),
        ("float('nan')", "ValueError: Out of range float values are not JSON compliant: nan"),
        ("{(1, 2): 3}", "TypeError: keys must be str, int, float, bool or None, not tuple"),
        ("x = []\nx.append(x)\nx", "ValueError: Circular reference detected"),
    ],
)
async def test_a_value_that_is_not_json_is_an_error(run: Run, source: str, told: str) -> None:
    with pytest.raises(ActivationError) as error:
        await run(source)
    assert (error.value.code, error.value.message) == ("SCRIPT_RUNTIME", told)


async def test_a_script_changes_only_its_own_copy(run: Run) -> None:
    given = {"order": {"lines": [1]}}
    assert await run("_global.order.lines.append(2)\n_global", _global=given) == {"order": {"lines": [1, 2]}}
    assert given == {"order": {"lines": [1]}}


async def test_scripts_leave_nothing_behind_for_one_another(run: Run) -> None:
    assert await run("left = 5\nleft") == 5
    with pytest.raises(ActivationError) as error:
        await run("left")
    assert error.value.code == "SCRIPT_NAME"
