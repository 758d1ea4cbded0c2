"""Scripts as they stand in documents: headers, bodies, rules of branches, transformers."""

from __future__ import annotations

from tests.dialects.groovy.case import ORDER, Case

SCRIPTS = {
    "a rule of a branch is true or false": [
        Case("return _global.order?.returnable == true && _global.order?.windowExpired == false", True, ORDER),
        Case("return _global.order?.returnable == true && _global.order?.windowExpired == true", False, ORDER),
        Case("_global.customer.tier in ['GOLD', 'PLATINUM']", True, ORDER),
        Case("_global.order.amount > 1000 || _global.customer?.tags?.contains('vip')", True, ORDER),
        Case("_global.missing?.flag == true", False, ORDER),
        Case("_global['choose_refund:viewResponse']?.selectedOptions?.method == 'WALLET'", True, ORDER),
        Case("!_global['choose_refund:viewResponse'].selectedOptions.comment", True, ORDER),
        Case("_response.errors.isEmpty() && _response.statusResponse.id == 219", True, ORDER),
        Case("_global.order.items.any { it.price > 100 } && _global.order.items.every { it.qty > 0 }", True, ORDER),
        Case("_global.order.amount <= _enum_store.LIMITS[_global.customer.tier]", True, ORDER),
        Case("_thread.tenant.equalsIgnoreCase('SHOP')", True, ORDER),
        Case("_global.order.status == 'DELIVERED' ? true : false", True, ORDER),
        Case("_global.containsKey('order') && _global.empty.isEmpty()", True, ORDER),
        Case("input.n == 3 && vars.count > input.n", True, ORDER),
        Case("_global.order.items.size() > 2 && _global.order.items*.sku.contains('B2')", True, ORDER),
    ],
    "an address is put together": [
        Case(
            """
return 'http://' + _enum_store.pay.host + ':' + _enum_store.pay.port +
    '/incidents/' + _global.nodeParameters.incidentId
""",
            "http://127.0.0.1:80/incidents/INC-7",
            ORDER,
        ),
        Case(
            '"http://${_enum_store.pay.host}/orders/${_global.order.id}?expand=${_global.order.items.size() > 1}"',
            "http://127.0.0.1/orders/OD-9?expand=true",
            ORDER,
        ),
        Case(
            """
def base = "https://$_enum_store.pay.host"
return base + '/' + _global.order.items.collect { it.sku }.join('/')
""",
            "https://127.0.0.1/A1/B2/C3",
            ORDER,
        ),
        Case(
            'def q = [tenant: _thread.tenant, n: input.n].collect { k, v -> "$k=$v" }.join(\'&\')\n"/search?$q"',
            "/search?tenant=shop&n=3",
            ORDER,
        ),
    ],
    "headers are a map": [
        Case(
            """
headers = [:]
headers['X_TENANT'] = 'cs'
headers['X_PERF_TEST'] = _global?.threadContext?.perfFlag ?: 'false'
headers['Content-Type'] = 'application/json'
return headers
""",
            {"X_TENANT": "cs", "X_PERF_TEST": "false", "Content-Type": "application/json"},
            ORDER,
        ),
        Case("return [:]", {}, ORDER),
        Case("return null", None, ORDER),
        Case(
            "headers = [:]; headers['Content-Type'] = 'application/json'; return headers",
            {"Content-Type": "application/json"},
            ORDER,
        ),
        Case(
            """
Map<String, String> headers = new HashMap<>();
headers.put("X-Client", _thread.clientId);
if (_global.customer.tier != null) {
    headers.put("X-Tier", _global.customer.tier);
}
return headers;
""",
            {"X-Client": "APP", "X-Tier": "GOLD"},
            ORDER,
        ),
    ],
    "a body is built from the order": [
        Case(
            """
[
    orderId: _global.order.id,
    customer: [id: _global.customer.id, vip: _global.customer.tags.contains('vip')],
    lines: _global.order.items.collect { [sku: it.sku, total: it.price * it.qty] }
]
""",
            {
                "orderId": "OD-9",
                "customer": {"id": "C-1", "vip": True},
                "lines": [{"sku": "A1", "total": 40}, {"sku": "B2", "total": 150}, {"sku": "C3", "total": 30}],
            },
            ORDER,
        ),
        Case(
            """
def body = [:]
body.amount = _global.order.amount
body.fee = body.amount * 0.02
body.net = body.amount - body.fee
body
""",
            {"amount": 1500.5, "fee": 30.01, "net": 1470.49},
            ORDER,
        ),
        Case(
            """
def lines = []
_global.order.items.each { item ->
    if (item.gift?.note) {
        lines << [sku: item.sku, note: item.gift.note]
    }
}
return [lines: lines, count: lines.size()]
""",
            {"lines": [{"sku": "B2", "note": "hi"}], "count": 1},
            ORDER,
        ),
        Case(
            """
def total = 0
for (item in _global.order.items) {
    total += item.price * item.qty
}
[total: total, average: total / _global.order.items.size()]
""",
            {"total": 220, "average": 73.3333333333},
            ORDER,
        ),
        Case(
            """
import groovy.json.JsonOutput
return JsonOutput.toJson([id: _global.order.id, at: System.currentTimeMillis()])
""",
            '{"id":"OD-9","at":1700560800123}',
            ORDER,
        ),
        Case(
            """
def dearest = _global.order.items.max { it.price }
def cheapest = _global.order.items.min { it.price * it.qty }
[dearest: dearest.name, cheapest: cheapest.name]
""",
            {"dearest": "Desk", "cheapest": "Pen"},
            ORDER,
        ),
        Case(
            "_global.order.items.groupBy { it.price > 10 ? 'dear' : 'cheap' }.collectEntries { k, v -> [(k): v*.sku] }",
            {"dear": ["A1", "B2"], "cheap": ["C3"]},
            ORDER,
        ),
        Case(
            "def bySku = _global.order.items.collectEntries { [(it.sku): it] }\nbySku['C3'].name + bySku.A1.qty",
            "Pen2",
            ORDER,
        ),
        Case(
            '_global.order.items.sort { a, b -> b.price <=> a.price }.take(2).collect { "${it.name}: ${it.price}" }',
            ["Desk: 150", "Lamp: 20"],
            ORDER,
        ),
        Case("_global.order.items.sum { it.price * it.qty }", 220, ORDER),
        Case(
            "_global.order.items.inject([:]) { acc, it2 -> acc[it2.sku] = it2.qty; acc }",
            {"A1": 2, "B2": 1, "C3": 10},
            ORDER,
        ),
        Case(
            "_global.order.items.findAll { !it.gift }.collect { it.name.toUpperCase() }.join(', ')", "LAMP, PEN", ORDER
        ),
    ],
    "a transformer takes an answer apart": [
        Case(
            """
def result = [:]
result['statusResponse'] = _response?.statusResponse ?: [:]
result['statusId'] = result['statusResponse']?.id
result['statusName'] = result['statusResponse']?.status
return result
""",
            {"statusResponse": {"id": 219, "status": "Solved"}, "statusId": 219, "statusName": "Solved"},
            ORDER,
        ),
        Case("def result = [:]; result['status'] = _response?.body?.status; return result", {"status": None}, ORDER),
        Case(
            """
return [
    ok: !_response.errors, name: _response.statusResponse.status.toLowerCase(),
    id: _response.statusResponse.id as String
]
""",
            {"ok": True, "name": "solved", "id": "219"},
            ORDER,
        ),
        Case(
            """
if (_response?.errors) {
    throw new RuntimeException("failed: ${_response.errors[0]}")
}
_response.statusResponse.id + 1
""",
            220,
            ORDER,
        ),
        Case(
            """
def status = _response.statusResponse?.status
switch (status) {
    case 'Open':
    case 'New':
        return [next: 'wait']
    case 'Solved':
        return [next: 'show', done: true]
    default:
        return [next: 'fail']
}
""",
            {"next": "show", "done": True},
            ORDER,
        ),
        Case(
            """
try {
    return [n: _response.statusResponse.count.toInteger()]
} catch (Exception e) {
    return [n: 0, error: e.message]
}
""",
            {"n": 0, "error": "Cannot invoke method toInteger() on null object"},
            ORDER,
        ),
    ],
    "options for a screen are lists of maps": [
        Case(
            """
def asc = [["id": "asc", "tags": ["values": ["ui.static_text"]],
    "instructions": [["templateId": "asc", "templateVariables": [
        "status_name": _global.lookup_status?.statusName ?: 'Unknown']]]]]; return asc
""",
            [
                {
                    "id": "asc",
                    "tags": {"values": ["ui.static_text"]},
                    "instructions": [{"templateId": "asc", "templateVariables": {"status_name": "Unknown"}}],
                }
            ],
            ORDER,
        ),
        Case(
            "return ['processed': true, 'timestamp': new Date().toString()]",
            {"processed": True, "timestamp": "Tue Nov 21 10:00:00 UTC 2023"},
            ORDER,
        ),
        Case(
            """
['WALLET', 'BANK'].collect { m ->
    def label = m.toLowerCase().capitalize()
    [displayValue: label, value: m, selected: m == _global['choose_refund:viewResponse'].selectedOptions.method]
}
""",
            [
                {"displayValue": "Wallet", "value": "WALLET", "selected": True},
                {"displayValue": "Bank", "value": "BANK", "selected": False},
            ],
            ORDER,
        ),
        Case(
            """
def options = []
options << [id: 'refund', possibleValues: _enum_store.LIMITS
    .findAll { k, v -> v >= 500 }.collect { k, v -> [displayValue: k, value: v] }]
if (_global.order.amount > 1000) options.add([id: 'call_me'])
options
""",
            [
                {
                    "id": "refund",
                    "possibleValues": [
                        {"displayValue": "GOLD", "value": 2000},
                        {"displayValue": "SILVER", "value": 500},
                    ],
                },
                {"id": "call_me"},
            ],
            ORDER,
        ),
    ],
    "days since a moment are counted": [
        Case(
            """
def days = (System.currentTimeMillis() - _global.order.deliveredAt) / (1000 * 60 * 60 * 24)
return days < 10
""",
            True,
            ORDER,
        ),
        Case("((new Date().time - _global.order.deliveredAt) / 86400000) as int", 6, ORDER),
        Case(
            """
def until = new Date(_global.order.deliveredAt) + 7
[until: until.format('yyyy-MM-dd'), over: new Date() > until]
""",
            {"until": "2023-11-21", "over": False},
            ORDER,
        ),
    ],
    "a script changes only its own copy": [
        Case(
            """
_global.order.status = 'X'
_global.customer.tags << 'new'
[_global.order.status, _global.customer.tags.size()]
""",
            ["X", 3],
            ORDER,
        ),
        Case("_global.order.items.removeAll { it.price < 50 }\n_global.order.items.size()", 1, ORDER),
        Case("vars = [count: 1]\nvars.count", 1, ORDER),
    ],
    "text is cleaned": [
        Case("_global.customer.phone.replaceAll('[^0-9]', '')", "49301234", ORDER),
        Case("_global.customer.name?.trim()?.toLowerCase() ?: 'unknown'", "ada", ORDER),
        Case("_global.order.id.split('-')[1].toInteger() + 1", 10, ORDER),
        Case("def n = _global.customer.name\nn.length() > 2 ? n[0..1] + '***' : n", "Ad***", ORDER),
        Case("_global.incidentId.substring(4).padLeft(5, '0')", "00007", ORDER),
        Case("_global.customer.tags.collect { it.capitalize() }.sort().join(' & ')", "New & Vip", ORDER),
    ],
    "helpers have names": [
        Case(
            """
def money = { amount, currency = 'EUR' -> "${amount} $currency" }
[money(5), money(_global.order.amount, 'INR')]
""",
            ["5 EUR", "1500.5 INR"],
            ORDER,
        ),
        Case(
            "def lineTotal(item) { item.price * item.qty }\n_global.order.items.collect { lineTotal(it) }",
            [40, 150, 30],
            ORDER,
        ),
        Case("def isVip = { c -> 'vip' in c.tags }\nisVip(_global.customer) ? 'fast' : 'slow'", "fast", ORDER),
    ],
}
