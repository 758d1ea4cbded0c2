"""One script with what it must give, and the data that several scripts read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ORDER: dict[str, Any] = {
    "_global": {
        "incidentId": "INC-7",
        "customer": {"id": "C-1", "name": "Ada", "tier": "GOLD", "tags": ["new", "vip"], "phone": "+49 (30) 12-34"},
        "order": {
            "id": "OD-9",
            "status": "DELIVERED",
            "amount": 1500.5,
            "returnable": True,
            "windowExpired": False,
            "deliveredAt": 1700000000000,
            "items": [
                {"sku": "A1", "name": "Lamp", "price": 20, "qty": 2, "gift": None},
                {"sku": "B2", "name": "Desk", "price": 150, "qty": 1, "gift": {"note": "hi"}},
                {"sku": "C3", "name": "Pen", "price": 3, "qty": 10},
            ],
        },
        "nodeParameters": {"incidentId": "INC-7"},
        "choose_refund:viewResponse": {"selectedOptions": {"method": "WALLET", "comment": ""}},
        "threadContext": {"tenant": "shop", "perfFlag": None},
        "empty": {},
    },
    "_enum_store": {"pay": {"host": "127.0.0.1", "port": "80"}, "LIMITS": {"GOLD": 2000, "SILVER": 500}},
    "_thread": {"tenant": "shop", "clientId": "APP"},
    "_response": {"statusResponse": {"id": 219, "status": "Solved"}, "errors": []},
    "input": {"n": 3, "name": "in", "ids": ["x", "y"]},
    "vars": {"count": 4},
}


@dataclass(frozen=True)
class Case:
    script: str
    value: Any = None
    given: dict[str, Any] = field(default_factory=dict)
    fails: str | None = None
    """The exception that Groovy throws; then there is no value."""
    ours: str | None = None
    """Why real Groovy is not asked: newer syntax than that of Groovy 2.4, or a difference that the reference names."""

    @property
    def bindings(self) -> dict[str, Any]:
        nothing: dict[str, Any] = dict.fromkeys(["_global", "_enum_store", "_thread", "_response", "input", "vars"])
        return nothing | self.given
