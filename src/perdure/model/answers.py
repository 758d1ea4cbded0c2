"""Whether an answer fits the view that was shown. Pure: the kernel asks it before an answer is accepted, a form may ask
it before one is sent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from perdure.errors import InvalidInput
from perdure.model.problems import pointed
from perdure.model.values import Json, check_json

LONGEST_TEXT = 10_000
SELECTED = "selectedOptions"
_MANY = frozenset({"multi_select", "multi_dropdown", "checkbox"})
_PRESSED = frozenset({"button", "complete"})
_FEW = 20


def is_response(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get(SELECTED), dict)


def check_answer(view: dict[str, Any], response: Json) -> None:
    """Raises InvalidInput with a pointer to the widget, and what was expected."""
    if not is_response(response) or set(response) != {SELECTED}:
        raise InvalidInput(
            "this is no answer to a view",
            pointer="",
            expected='{"selectedOptions": {widget: value}}, and nothing else',
        )
    check_json(response)
    if asks_nothing(view):
        return
    selected = {name: value for name, value in response[SELECTED].items() if value is not None}
    widgets, hidden = _shown(view, selected)
    for name in response[SELECTED]:
        place = pointed("", SELECTED, name)
        if name in hidden and name not in widgets:
            _refuse_missing({each: widgets[each] for each in [hidden[name]] if each in widgets}, selected)
            told = f"{name!r} does not apply to what was selected for {hidden[name]!r}"
            raise InvalidInput(told, pointer=place, expected="no value here")
        if name not in widgets:
            answered = [each for each, widget in widgets.items() if not _is_static(widget)]
            names = ", ".join(answered[:_FEW])
            raise InvalidInput(f"the view has no widget {name!r}", pointer=place, expected=f"one of {names}")
        if name in selected:
            _check(widgets[name], selected[name], place)
    _refuse_missing(widgets, selected)


def _refuse_missing(widgets: dict[str, dict[str, Any]], selected: dict[str, Any]) -> None:
    for name, widget in widgets.items():
        if "required" in _kinds(widget) and not _is_static(widget) and _is_empty(selected.get(name)):
            said = widget.get("description")
            told = f"{name!r} is required" + (f" ({said})" if isinstance(said, str) and said else "")
            raise InvalidInput(told, pointer=pointed("", SELECTED, name), expected=_expected(widget))


def asks_nothing(view: dict[str, Any]) -> bool:
    """A view of texts only. Whatever is said to it says that it was read: clients of Drift send what they like."""
    return all(_is_static(option) for option in view.get("inputOptions", ()))


def selections(view: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """What an accepted answer says to widgets that the view has and that ask something. What else was said to a view of
    texts is kept with the answer, and is nothing that anybody selected."""
    given = response[SELECTED]
    widgets, _ = _shown(view, {name: value for name, value in given.items() if value is not None})
    return {name: value for name, value in given.items() if name in widgets and not _is_static(widgets[name])}


def _shown(view: dict[str, Any], selected: dict[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The widgets that this answer leads to, by id; and those that it does not, with what they depend on."""
    widgets: dict[str, dict[str, Any]] = {}
    hidden: dict[str, str] = {}
    todo = list(view.get("inputOptions", ()))
    for option in todo:
        name, parent, dependent = option["id"], option.get("parentId"), option.get("possibleDependentValues")
        if not dependent:
            widgets[name] = option
        elif parent is not None:
            chosen = next((dependent[key] for key in _keys(selected.get(parent)) if key in dependent), None)
            if chosen is not None:
                widgets[name] = {**option, **chosen, "id": name}
            elif option.get("possibleValues"):
                widgets[name] = option
            else:
                hidden[name] = parent
        else:
            widgets[name] = option
            chosen_keys = list(_keys(selected.get(name)))
            for key, inner in dependent.items():
                inner_name = inner.get("id")
                if inner_name is None:
                    continue
                if key in chosen_keys:
                    todo.append({"parentId": name, **inner})
                else:
                    hidden.setdefault(inner_name, name)
    return widgets, hidden


def _keys(value: Json) -> Iterator[str]:
    """Under which keys of an object a chosen value stands."""
    if isinstance(value, list):
        for each in value:
            yield from _keys(each)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif value is not None:
        yield str(value)


def _kinds(widget: dict[str, Any]) -> set[str]:
    """Its tags without the family before the dot: `ui.free_text` and `ehc.free_text` are the same."""
    tags = widget.get("tags")
    values = tags.get("values", ()) if isinstance(tags, dict) else ()
    return {tag.rpartition(".")[2] for tag in values if isinstance(tag, str)}


def _is_static(widget: dict[str, Any]) -> bool:
    return "static_text" in _kinds(widget)


def _is_empty(value: Json) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _check(widget: dict[str, Any], value: Json, place: str) -> None:
    kinds, values = _kinds(widget), widget.get("possibleValues")
    fits = True
    if "static_text" in kinds:
        fits = False
    elif values:
        possible = [each["value"] for each in values]
        given = value if kinds & _MANY else [value]
        fits = isinstance(given, list) and all(any(_same(each, one) for one in possible) for each in given)
    elif kinds & _MANY or "dropdown" in kinds:
        fits = False
    elif "date_picker" in kinds:
        fits = _is_date(value)
    elif "free_text" in kinds:
        fits = isinstance(value, str) and len(value) <= LONGEST_TEXT
    elif kinds & _PRESSED:
        fits = isinstance(value, bool) or (isinstance(value, str) and len(value) <= LONGEST_TEXT)
    if not fits:
        raise InvalidInput(
            f"{_told(value)} is no answer for {widget['id']!r}", pointer=place, expected=_expected(widget)
        )


def _expected(widget: dict[str, Any]) -> str:
    kinds, values = _kinds(widget), widget.get("possibleValues")
    if "static_text" in kinds:
        return "no value: this is a text"
    if values:
        names = ", ".join(_told(each["value"]) for each in values[:_FEW]) + (", …" if len(values) > _FEW else "")
        return f"a list of any of {names}" if kinds & _MANY else f"one of {names}"
    if kinds & _MANY or "dropdown" in kinds:
        return "nothing: there is no value to choose"
    if "date_picker" in kinds:
        return "a date like 2026-01-31, or with a time like 2026-01-31T09:30:00Z"
    if "free_text" in kinds:
        return f"a text of at most {LONGEST_TEXT} characters"
    return "true, or a text" if kinds & _PRESSED else "a value"


def _told(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _same(a: Json, b: Json) -> bool:
    """As JSON has it: true is not 1."""
    return a == b and isinstance(a, bool) is isinstance(b, bool)


def _is_date(value: Json) -> bool:
    if not isinstance(value, str) or not 8 <= len(value) <= 40:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return "-" in value
