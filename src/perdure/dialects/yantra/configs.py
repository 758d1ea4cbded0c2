"""The configuration of each node type, as ours have it.

Ours were made after these, so most fields are taken over. Fields that nobody knows are left out, as the original does;
an empty text, which a form gives for a field that was not filled in, is none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from perdure.dialects.yantra.conditions import Wrong, expression, row_expression, row_text
from perdure.dialects.yantra.texts import native_letter, native_path, native_text, native_value
from perdure.errors import PerdureError
from perdure.model.problems import Problem, Severity, pointed
from perdure.model.values import decode_json, encode_json
from perdure.model.zones import zone

Config = dict[str, Any]
MOST_ITERATIONS, ITERATIONS = 10_000, 1_000
LONGEST_DELAY = 5 * 60 * 1000
RESERVED = ("input", "data", "workflow")


class Form:
    """The configuration of one node, while it is read."""

    def __init__(self, config: Config, pointer: str, ids: Collection[str]) -> None:
        self.given = config
        self.pointer = pointer
        self.ids = ids
        self.problems: list[Problem] = []
        self.places: dict[str, str] = {}
        """Where a field of the result comes from, if not from one of the same name."""

    def get(self, name: str) -> Any:
        """The field, or None if it is not filled in."""
        value = self.given.get(name)
        return None if value == "" else value

    def wrong(self, name: str, message: str, expected: str | None = None, *, severity: Severity = "error") -> None:
        code = "CONFIG_VALUE" if name.split("/", maxsplit=1)[0] in self.given else "CONFIG_MISSING"
        place = pointed(self.pointer, *name.split("/")) if name else self.pointer
        self.problems.append(Problem(code, place, message, expected=expected, severity=severity))

    def take(self, *names: str) -> Config:
        return {name: value for name in names if (value := self.get(name)) is not None}

    def number(self, name: str, default: float | None = None) -> Any:
        """A number; forms also give it as text."""
        value = self.get(name)
        if value is None:
            return default
        if isinstance(value, str) and "{{" not in value:
            try:
                number = float(value)
            except ValueError:
                self.wrong(name, f"{value[:64]!r} is no number", "a number")
                return default
            return int(number) if number == number // 1 and abs(number) < 2**53 else number
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            self.wrong(name, f"{type(value).__name__} is no number", "a number")
            return default
        return value

    def whole(self, name: str, default: int, most: int) -> int:
        value = self.number(name, default)
        if not isinstance(value, int | float) or value != value // 1 or value < 0:
            self.wrong(name, "a whole number is expected", f"0 to {most}")
            return default
        return min(int(value), most)

    def flag(self, name: str, default: bool) -> bool:
        value = self.get(name)
        if value in ("true", "false"):
            return bool(value == "true")
        if value is not None and not isinstance(value, bool):
            self.wrong(name, "true or false is expected", "true or false")
        return value if isinstance(value, bool) else default


def _nothing(form: Form) -> Config:
    return {}


def _conditional(form: Form) -> Config:
    condition, rows = form.get("condition"), form.given.get("conditions")
    if isinstance(condition, str) and condition.strip():
        return {"condition": expression(condition, form.ids), "text": condition, "language": "gval"}
    if not isinstance(rows, list) or not rows:
        form.wrong("condition", "the condition is not specified", "a condition, or rows of conditions")
        return {"condition": "true"}
    form.places["condition"] = "conditions"
    joint = form.get("logicalOperator") or "AND"
    if joint not in ("AND", "OR"):
        form.wrong("logicalOperator", f"{str(joint)[:64]!r} joins nothing", "AND or OR")
    parts = []
    for number, row in enumerate(rows):
        part = row_expression(row, form.ids)
        if isinstance(part, Wrong):
            form.wrong(f"conditions/{number}/{part.field}".rstrip("/"), part.message, part.expected)
        else:
            parts.append(f"({part})")
    text = f" {joint} ".join(row_text(row) for row in rows if isinstance(row, dict))
    return {"condition": (" || " if joint == "OR" else " && ").join(parts) or "true", "text": text, "language": "gval"}


def _delay(form: Form) -> Config:
    form.places["milliseconds"] = "duration"
    value = form.number("duration", 1000)
    return {"milliseconds": native_text(value) if isinstance(value, str) else value}


def _sleep(form: Form) -> Config:
    mode = form.get("mode")
    if mode is None:
        mode = "absolute" if form.get("target_date") is not None else "relative"
    place = form.get("timezone") or "UTC"
    if not isinstance(place, str):
        form.wrong("timezone", "a time zone is text", "an IANA name such as Europe/Berlin")
        place = "UTC"
    config: Config = {"mode": mode, "timezone": native_text(place)}
    if mode == "absolute":
        date = form.get("target_date")
        if not isinstance(date, str):
            form.wrong("target_date", "the date to sleep until is missing", "a date, with or without a time")
            date = "1970-01-01"
        return {**config, "target_date": native_text(date)}
    value = form.number("duration_value")
    if value is None:
        if not form.problems:
            form.wrong("duration_value", "how long to sleep is missing", "a number, 0 or more")
        value = 0
    return {**config, "duration_value": native_value(value), "duration_unit": form.get("duration_unit") or "seconds"}


def _json_value(data: Any) -> Any:
    """Text is JSON that was written as text."""
    if isinstance(data, str):
        try:
            read = native_value(decode_json(data))
        except PerdureError:
            return native_text(data)  # one placeholder, or a mistake, which is told where it is used
        return encode_json(read).decode() if isinstance(read, str) else read
    return native_value(data)


def _json(form: Form) -> Config:
    if "data" not in form.given:
        form.wrong("data", "the data is missing", "any JSON value, or JSON as text")
        return {"data": None}
    return {"data": _json_value(form.given["data"])}


def _json_array(form: Form) -> Config:
    form.places |= {"items": "jsonArray", "same_keys": "validateSchema"}
    if form.get("jsonArray") is None:
        form.wrong("jsonArray", "the list is missing", "a list of objects, as JSON text")
        return {"items": [{}]}
    return {"items": _json_value(form.given["jsonArray"]), "same_keys": form.flag("validateSchema", True)}


def _json_to_csv(form: Form) -> Config:
    config = form.take("delimiter", "outputFormat", "columns")
    if form.get("data") is not None:
        config["data"] = _json_value(form.given["data"])
    if isinstance(form.get("arrayPath"), str):
        config["arrayPath"] = native_path(form.given["arrayPath"])
    if form.get("includeHeaders") is not None:
        config["includeHeaders"] = form.flag("includeHeaders", True)
    if isinstance(config.get("columns"), list):
        known = [each for each in config["columns"] if not isinstance(each, dict) or each.get("key")]
        config["columns"] = [
            {name: each[name] for name in ("key", "header") if each.get(name)} if isinstance(each, dict) else each
            for each in known
        ]
        if not config["columns"]:
            del config["columns"]
    return config


def _http(form: Form) -> Config:
    config = form.take("method", "timeout", "maxRetries")
    for name in ("timeout", "maxRetries"):
        if name in config:
            config[name] = form.number(name)
    if isinstance(config.get("maxRetries"), int):
        config["maxRetries"] = max(0, min(config["maxRetries"], 10))
    url = form.get("url")
    if url is None:
        form.wrong("url", "the URL is missing", "a URL that begins with http:// or https://")
        url = "http://localhost"
    config["url"] = native_value(url.strip() if isinstance(url, str) else url)
    for name in ("headers", "body"):
        if form.get(name) is not None:
            config[name] = native_value(form.given[name])
    return config


def _email(form: Form) -> Config:
    config = form.take("provider", "isHtml", "contentType", "maxRetries")
    for name in ("to", "cc", "bcc", "from", "replyTo", "subject", "body", "html", "template"):
        value = form.get(name)
        if isinstance(value, str):
            config[name] = native_letter(value)
        elif value is not None:
            config[name] = native_value(value)
    if "template" in config and "body" in config:
        del config["template"]
    if isinstance(form.get("templateVariables"), dict):
        config["templateVariables"] = native_value(form.given["templateVariables"])
    if isinstance(form.get("attachments"), list):
        config["attachments"] = native_value(form.given["attachments"])
    return _retries(form, config)


def _slack(form: Form) -> Config:
    config = form.take("webhookUrl", "apiKey", "channel", "iconUrl", "iconEmoji", "threadTs", "maxRetries")
    config = {name: native_value(value) for name, value in config.items()}
    for name in ("text", "message", "username"):
        value = form.get(name)
        if value is not None:
            config[name] = native_letter(value) if isinstance(value, str) else value
    if "text" in config:
        config.pop("message", None)
    if form.get("blocks"):
        config["blocks"] = native_value(form.given["blocks"])
    return _retries(form, config)


def _retries(form: Form, config: Config) -> Config:
    if "maxRetries" in config:
        config["maxRetries"] = form.whole("maxRetries", 3, 10)
    return config


OPERATIONS = ("map", "extract", "parse", "stringify", "concat")


def _transform(form: Form) -> Config:
    form.places["operations"] = "operations"
    given = form.given.get("operations")
    if given is not None and not isinstance(given, list):
        form.wrong("operations", "operations are a list", "a list")
    made = []
    for number, each in enumerate(given if isinstance(given, list) else []):
        kind = each.get("type") if isinstance(each, dict) else None
        place = f"operations/{number}"
        if kind not in OPERATIONS:
            told = f"there is no operation {str(kind)[:64]!r}; it does nothing"
            form.wrong(f"{place}/type" if kind is not None else place, told, severity="warning")
            continue
        settings = each.get("config")
        settings = settings if isinstance(settings, dict) else {}
        made.append({"type": kind, "config": _operation(form, kind, settings, f"{place}/config")})
    return {"operations": made}


def _operation(form: Form, kind: str, given: Config, place: str) -> Config:
    if kind == "map":
        return _map(form, given, place)
    config: Config = {}
    for name in ("jsonPath", "inputKey"):
        value = given.get(name)
        if isinstance(value, str):
            is_query = name == "jsonPath" and value.strip().startswith("$")
            config[name] = value if is_query else native_path(value)
    wanted = {"extract": "jsonPath", "parse": "inputKey", "stringify": "inputKey"}.get(kind)
    if wanted is not None and not config.get(wanted):
        form.wrong(f"{place}/{wanted}", f"{wanted} is missing", "a path")
        config[wanted] = "x"
    if given.get("outputKey"):
        config["outputKey"] = str(given["outputKey"])
    if kind == "concat":
        inputs = given.get("inputs")
        words = inputs.split(",") if isinstance(inputs, str) else inputs if isinstance(inputs, list) else []
        config["inputs"] = [native_path(str(word)) for word in words if str(word).strip()]
        config["separator"] = given["separator"] if isinstance(given.get("separator"), str) else ""
        if not config["inputs"]:
            form.wrong(f"{place}/inputs", "the inputs are missing", "paths with commas between them")
    return config


def _map(form: Form, given: Config, place: str) -> Config:
    mappings = given.get("mappings")
    pairs: list[Any] = []
    if isinstance(mappings, dict):
        pairs = [{"from": source, "to": target} for source, target in mappings.items()]
    elif isinstance(mappings, list):
        pairs = mappings
    elif mappings is not None:
        form.wrong(f"{place}/mappings", "mappings are a list or an object", "a list of from and to")
    made = []
    for number, pair in enumerate(pairs):
        source, target = (pair.get("from"), pair.get("to")) if isinstance(pair, dict) else (None, None)
        if not isinstance(source, str) or not isinstance(target, str) or not source.strip() or not target.strip():
            form.wrong(
                f"{place}/mappings", f"mapping {number} names no `from` or no `to`; it does nothing", severity="warning"
            )
            continue
        mapping: Config = {"from": native_path(source), "to": native_path(target)}
        if pair.get("removeSource") is True:
            mapping["removeSource"] = True
        made.append(mapping)
    return {"mappings": made, "includeUnmapped": given.get("includeUnmapped") is True, "each": False}


def _loop(form: Form) -> Config:
    form.places |= {
        "item": "itemVariable",
        "index": "indexVariable",
        "array_path": "arrayPath",
        "pause": "iterationDelay",
    }
    config: Config = {
        "item": _variable(form, "itemVariable", "item"),
        "index": _variable(form, "indexVariable", "index"),
        "max_iterations": max(1, form.whole(_limit(form), ITERATIONS, MOST_ITERATIONS) or ITERATIONS),
        "on_item_failure": "skip",
        "shape": "yantra",
        "accumulate": "none",
    }
    path = form.get("arrayPath")
    if isinstance(path, str) and native_path(path):
        config["arrayPath"] = native_path(path)
    elif path is not None and not isinstance(path, str):
        form.wrong("arrayPath", "a path is text", "a dotted path")
    pause = form.whole("iterationDelay", 0, LONGEST_DELAY)
    if pause:
        config["pause"] = f"{pause}ms"
    return config


def _limit(form: Form) -> str:
    return "maxIterations" if "maxIterations" in form.given else "max_iterations"


def _accumulator(form: Form) -> Config:
    form.places |= {"accumulator": "accumulatorVariable"}
    mode, errors = form.get("accumulationMode") or "array", form.get("errorHandling") or "skip"
    if mode not in ("array", "last"):
        form.wrong("accumulationMode", f"{str(mode)[:64]!r} is no way to gather", "array or last")
        mode = "array"
    if errors not in ("skip", "fail"):
        form.wrong("errorHandling", f"{str(errors)[:64]!r} is no way to treat errors", "skip or fail")
        errors = "skip"
    return {
        **_loop(form),
        "accumulator": _variable(form, "accumulatorVariable", "accumulated"),
        "accumulate": "all" if mode == "array" else "last",
        "on_item_failure": errors,
        "unwrap": form.flag("unwrapData", True),
        "skip_null": True,
        "results_from": "ends",
    }


def _variable(form: Form, name: str, default: str) -> str:
    value = form.get(name)
    if value is None:
        return default
    if not isinstance(value, str) or not value.isidentifier() or not value.isascii() or len(value) > 64:
        form.wrong(name, f"{str(value)[:64]!r} cannot be the name of a variable", "letters, digits and underscores")
        return default
    if value in RESERVED:
        form.wrong(name, f"{value!r} is the name of something else", "another name")
        return default
    return value


TRANSLATORS: dict[str, Callable[[Form], Config]] = {
    "start": _nothing,
    "end": _nothing,
    "conditional": _conditional,
    "delay": _delay,
    "sleep": _sleep,
    "json": _json,
    "json-array": _json_array,
    "transform": _transform,
    "json_to_csv": _json_to_csv,
    "loop": _loop,
    "loop-accumulator": _accumulator,
    "http": _http,
    "email": _email,
    "slack": _slack,
}


def check_zone(name: str) -> str | None:
    """What is wrong with the name of a time zone."""
    try:
        zone(name)
    except ValueError as problem:
        return str(problem)
    return None
