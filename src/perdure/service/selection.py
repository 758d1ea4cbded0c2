"""Which workflow a start means: by the issue that it is about, with a part of the starts given another version.

Rules belong to a namespace and are stored as a versioned document of their own; `workflow.properties` of Drift is
imported into it. What `params` say (workflowId and version) wins over every rule. In an experiment the arm follows from
the experiment and the pivot (the customer, or a named parameter) alone: the same pivot always gets the same arm. Or a
provider outside is asked. Whatever goes wrong with an experiment, the control arm is taken.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from perdure.dialects.drift.node_definitions import version_of
from perdure.dialects.properties import read_properties
from perdure.errors import InvalidInput, NotFound
from perdure.model.canonical import canonical
from perdure.model.problems import pointed
from perdure.model.values import Json, check_json, check_name, digest
from perdure.ports.definitions import Definitions
from perdure.service.parts import ID

CONTROL, TREATMENT = "control", "treatment"
PART, KIND = "selection:rules", "selection"
PREFIX = "workflow."
CUSTOMER = "customerId"
_BUCKETS = 10_000
_ADDRESS = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)
T = TypeVar("T")
_FIELDS = {
    "key": "key",
    "version": "version",
    "ab.enabled": "enabled",
    "ab.experimentName": "experiment",
    "ab.pivotType": "pivot",
    "ab.variable": "variable",
    "ab.control.version": "control",
    "ab.treatment.version": "treatment",
    "ab.treatment.percent": "percent",
}
"""Ends of the keys of `workflow.properties`. The last one is ours: how many of a hundred pivots get the treatment."""


class Split(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An experiment: two versions of one workflow."""

    experiment: str
    enabled: bool = True
    pivot: str = CUSTOMER
    variable: str | None = None
    control: int | str | None = None
    """Without it, the version of the rule."""
    treatment: int | str = "LATEST"
    percent: float | None = None
    """Pivots of a hundred that get the treatment. None: the provider is asked; where there is none, nobody does."""


class Rule(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    workflow: str
    version: int | str = "ACTIVE"
    split: Split | None = None


class Provider(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """Somebody outside who knows the arms; fields as the seed's `abConfiguration` has them."""

    endpoint: str
    client_id: str | None = None
    tenant_id: str | None = None
    client_secret_key: str | None = None
    """The name of a secret, which is sent as a bearer token."""
    is_ab_enabled: bool = msgspec.field(default=True, name="isABEnabled")


class Rules(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The document: rules by issue id, and the provider of experiments."""

    rules: dict[str, Rule] = {}
    provider: Provider | None = None


class Chosen(msgspec.Struct, frozen=True, omit_defaults=True):
    definition: str
    version: int | str
    experiment: str | None = None
    arm: str | None = None

    def attributes(self) -> dict[str, Any]:
        """What makes it visible on the run."""
        if self.experiment is None:
            return {}
        return {"experiment": self.experiment, "arm": self.arm}


Ask = Callable[[str, Provider, str, Split], Awaitable[bool]]
"""Asks the provider whether a pivot gets the treatment: namespace, provider, pivot, split."""


class SelectionService:
    def __init__(self, definitions: Definitions, ask: Ask | None = None) -> None:
        self._definitions = definitions
        self._ask = ask

    async def rules(self, namespace: str) -> Rules:
        active = await self._definitions.active(namespace, PART)
        return read_rules(active.version.document) if active is not None else Rules()

    async def save(self, namespace: str, document: Json) -> int:
        """The rules of the namespace as a whole; new starts follow them. Gives the number of their version."""
        rules = read_rules(document)
        plain = msgspec.to_builtins(rules)
        await self._definitions.save_draft(namespace, PART, KIND, plain)
        saved = await self._definitions.publish(namespace, PART, KIND, plain, digest(canonical(plain)), None)
        await self._definitions.activate(namespace, PART, saved.version)
        return saved.version

    async def import_properties(self, namespace: str, text: str) -> int:
        """Adds the rules of a `workflow.properties` to those that there are; an issue that stands there gets its rule
        from there."""
        rules = await self.rules(namespace)
        merged = msgspec.structs.replace(rules, rules={**rules.rules, **rules_in(text)})
        return await self.save(namespace, msgspec.to_builtins(merged))

    async def select(
        self, namespace: str, issue: str | None, params: Mapping[str, Any], customer: Mapping[str, Any] | None = None
    ) -> Chosen:
        """Raises NotFound where no rule knows the issue."""
        given = _given(params)
        if given is not None:
            return given
        rules = await self.rules(namespace)
        rule = rules.rules.get(issue) if issue is not None else None
        if rule is None:
            raise NotFound(
                f"no workflow is chosen for the issue {issue!r}",
                pointer="/issueDetail/issueId",
                remedy="save a rule for it, or name `workflowId` and `version` in `params`",
            )
        split = rule.split
        if split is None or not split.enabled:
            return Chosen(rule.workflow, rule.version)
        pivot = _pivot(split, params, customer)
        if pivot is None:
            return Chosen(rule.workflow, rule.version)
        treated = await self._is_treated(namespace, rules.provider, split, pivot)
        control = rule.version if split.control is None else split.control
        return Chosen(
            rule.workflow,
            split.treatment if treated else control,
            split.experiment,
            TREATMENT if treated else CONTROL,
        )

    async def resolved(self, namespace: str, chosen: Chosen) -> Chosen:
        """With a version that there is: a number is one of ours, else the newest whose document calls itself that
        (`"version": "2"`). Raises NotFound."""
        number, id = chosen.version, chosen.definition
        if not isinstance(number, int) or await self._definitions.version(namespace, id, number) is not None:
            return chosen
        there = await self._definitions.versions(namespace, id)
        named = [each.version for each in there if _own_version(each.document) == number]
        if named:
            return msgspec.structs.replace(chosen, version=named[-1])
        if not there:
            return chosen  # that there is no such workflow is told when it is started
        raise NotFound(
            f"the workflow {id!r} has no version {number}, and no version of it calls itself {number}",
            namespace=namespace,
            expected=f"1 to {there[-1].version}, LATEST or ACTIVE",
            remedy=f'publish a document with "version": "{number}", or name another version in the rule or in `params`',
        )

    async def _is_treated(self, namespace: str, provider: Provider | None, split: Split, pivot: str) -> bool:
        if split.percent is not None:
            return bucket(split.experiment, pivot) < split.percent * (_BUCKETS / 100)
        if provider is None or not provider.is_ab_enabled or self._ask is None:
            return False
        try:
            return await self._ask(namespace, provider, pivot, split)
        except Exception:
            return False  # an experiment is no reason not to start: the control arm is what there was before it


def bucket(experiment: str, pivot: str) -> int:
    """Where of 10,000 places a pivot stands: the same on every machine, another in every experiment."""
    hash = hashlib.blake2b(f"{experiment}\0{pivot}".encode(), digest_size=8).digest()
    return int.from_bytes(hash, "big") % _BUCKETS


def _own_version(document: Json) -> int | str | None:
    return version_of(document.get("version")) if isinstance(document, dict) else None


def _given(params: Mapping[str, Any]) -> Chosen | None:
    workflow, version = params.get("workflowId"), params.get("version")
    if workflow is None or version is None:
        return None
    number = version_of(version)
    if not isinstance(workflow, str) or number is None:
        raise InvalidInput(
            "this names no version of a workflow", pointer="/params/version", expected="a number, LATEST or ACTIVE"
        )
    return Chosen(workflow, number)


def _pivot(split: Split, params: Mapping[str, Any], customer: Mapping[str, Any] | None) -> str | None:
    value = (customer or {}).get(CUSTOMER) if split.pivot == CUSTOMER else None
    if value is None:
        value = params.get(split.pivot)
    return str(value) if isinstance(value, str | int) and value != "" else None


def read_rules(document: Json) -> Rules:
    """Raises InvalidInput."""
    check_json(document)
    by_issue = document.get("rules", {}) if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(by_issue, dict):
        where = "" if not isinstance(document, dict) else "/rules"
        raise InvalidInput("rules of selection are an object", pointer=where, expected="an object")
    rest = _converted({**document, "rules": {}}, Rules, "")
    rules = msgspec.structs.replace(
        rest, rules={issue: _converted(raw, Rule, pointed("/rules", issue)) for issue, raw in by_issue.items()}
    )
    if rules.provider is not None and not _ADDRESS.fullmatch(rules.provider.endpoint):
        told = "this is no address of a provider"
        raise InvalidInput(told, pointer="/provider/endpoint", expected="http:// or https://, and a host")
    for issue, rule in rules.rules.items():
        split = rule.split
        place = pointed("/rules", issue)
        check_name(issue, place)
        if not ID.fullmatch(rule.workflow):
            told = f"{rule.workflow[:64]!r} is no id of a workflow"
            raise InvalidInput(told, pointer=f"{place}/workflow", expected="letters, digits, dot, underscore, hyphen")
        if split is not None:
            check_name(split.experiment, f"{place}/split/experiment")
            check_name(split.pivot, f"{place}/split/pivot")
        versions = {"version": rule.version}
        if split is not None:
            versions |= {"split/control": split.control or rule.version, "split/treatment": split.treatment}
            if split.percent is not None and not 0 <= split.percent <= 100:
                raise InvalidInput(
                    "a percentage", pointer=pointed("/rules", issue, "split", "percent"), expected="0 to 100"
                )
        for field, version in versions.items():
            if version_of(version) is None:
                raise InvalidInput(
                    f"{version!r} is no version",
                    pointer=pointed("/rules", issue) + f"/{field}",
                    expected="a number from 1, LATEST, ACTIVE or SNAPSHOT",
                )
    return rules


def _converted(value: Json, type: type[T], pointer: str) -> T:
    try:
        return msgspec.convert(value, type)
    except msgspec.ValidationError as fault:
        told, _, path = str(fault).partition(" - at `$")
        place = pointer + path.rstrip("`").replace(".", "/")
        raise InvalidInput(f"this is no rule: {told}", pointer=place, expected="see Selection by issue") from None


def rules_in(text: str) -> dict[str, Rule]:
    """Of a `workflow.properties`. Raises InvalidInput with the line."""
    found: dict[str, dict[str, str]] = {}
    for key, value, line in read_properties(text):
        end = next((end for end in sorted(_FIELDS, key=len, reverse=True) if key.endswith(f".{end}")), None)
        issue = key.removeprefix(PREFIX).removesuffix(f".{end}") if end is not None else ""
        if not key.startswith(PREFIX) or end is None or not issue:
            if key.startswith(PREFIX):
                raise InvalidInput(f"line {line}: {key!r} is no property of a workflow", expected=", ".join(_FIELDS))
            continue
        found.setdefault(issue, {})[_FIELDS[end]] = value.strip()
    return {issue: _rule(issue, fields) for issue, fields in found.items()}


def _rule(issue: str, fields: dict[str, str]) -> Rule:
    if not fields.get("key"):
        raise InvalidInput(f"the issue {issue!r} has no workflow", expected=f"{PREFIX}{issue}.key=<workflow id>")
    version = _version(issue, fields.get("version") or "ACTIVE")
    split = None
    if fields.get("experiment"):
        split = Split(
            experiment=fields["experiment"],
            enabled=fields.get("enabled", "").lower() == "true",
            pivot=fields.get("pivot") or CUSTOMER,
            variable=fields.get("variable") or None,
            control=_version(issue, fields["control"]) if fields.get("control") else None,
            treatment=_version(issue, fields.get("treatment") or "LATEST"),
            percent=_percent(issue, fields["percent"]) if fields.get("percent") else None,
        )
    return Rule(fields["key"], version, split)


def _version(issue: str, text: str) -> int | str:
    found = version_of(text)
    if found is None:
        raise InvalidInput(f"{text!r} is no version of the workflow of issue {issue!r}", expected="a number or LATEST")
    return found


def _percent(issue: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"{text!r} is no percentage (issue {issue!r})", expected="0 to 100") from None
