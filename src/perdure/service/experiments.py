"""Asking a provider of experiments, over HTTP, which arm a pivot belongs to.

POST to its endpoint: `{"experiment", "variable", "pivot", "clientId", "tenantId"}`, with the client's secret as a
bearer token. The answer says `treatment` (or `isInTreatment`): true or false. Anything else counts as not treated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.model.values import decode_json, encode_json
from perdure.nodes.outgoing.calls import Call
from perdure.service.selection import Ask, Provider, Split

if TYPE_CHECKING:
    from perdure.nodes.toolbox import Toolbox

PATIENCE = 1.0
"""Seconds: whoever starts a run waits for it."""


def asking(tools: Toolbox) -> Ask:
    async def ask(namespace: str, provider: Provider, pivot: str, split: Split) -> bool:
        headers = [("Content-Type", "application/json"), ("Accept", "application/json")]
        if provider.client_id is not None:
            headers.append(("X-Client-Id", provider.client_id))
        if provider.tenant_id is not None:
            headers.append(("X-Tenant-Id", provider.tenant_id))
        if provider.client_secret_key is not None:
            secret = await tools.secrets.get(namespace, provider.client_secret_key)
            headers.append(("Authorization", f"Bearer {secret}"))
        body = {
            "experiment": split.experiment,
            "variable": split.variable,
            "pivot": pivot,
            "clientId": provider.client_id,
            "tenantId": provider.tenant_id,
        }
        call = Call("POST", provider.endpoint, tuple(headers), encode_json(body), timeout=PATIENCE, redirects=0)
        answer = await tools.http.call(namespace, call)
        said = decode_json(answer.body) if answer.status == 200 else None
        return isinstance(said, dict) and (said.get("treatment") is True or said.get("isInTreatment") is True)

    return ask
