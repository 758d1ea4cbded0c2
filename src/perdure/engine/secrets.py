"""Secrets from the environment: what there is until a store of secrets is set up."""

from __future__ import annotations

import re
from collections.abc import Mapping

from perdure.errors import NotFound

PREFIX = "PERDURE_SECRET_"


class GivenSecrets:
    """A mapping that the embedding program gives, and after it the environment: the secret `smtp-password` is
    PERDURE_SECRET_SMTP_PASSWORD. The same for all namespaces."""

    def __init__(self, given: Mapping[str, str] | None, environ: Mapping[str, str]) -> None:
        self._given = given or {}
        self._environ = environ

    async def get(self, namespace: str, name: str) -> str:
        found = self._given.get(name)
        if found is None:
            found = self._environ.get(variable(name))
        if found is None:
            raise NotFound(f"there is no secret {name!r}", remedy=f"set {variable(name)}", namespace=namespace)
        return found


def variable(name: str) -> str:
    return PREFIX + re.sub(r"[^A-Za-z0-9]", "_", name).upper()
