"""The methods that a script may call on a value, and the function of the prelude that does the work.

Which class the value has shows only when the script runs, so one name has one function for all classes that have the
method. A name that is not here is refused when the script is saved; it never reaches a Python attribute.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Role = Literal["element", "action", "order", "indexed", "counter", "fold"]
"""What a closure is for: it gets an element and its value matters (`element`) or not (`action`); it compares, or gives
the key to compare (`order`); it gets element and number (`indexed`), only a number (`counter`), or the sum so far and
an element (`fold`)."""


class Form(NamedTuple):
    """One way to call a method: the function gets the value, then the closure if there is one, then the arguments."""

    function: str
    least: int = 0
    most: int = 0
    closure: Role | None = None
    compares: str | None = None
    """For `order`: the function if the closure has two parameters."""
    last: str = ""
    """A last argument that the script does not give."""


METHODS: Final[dict[str, tuple[Form, ...]]] = {
    # everything
    "toString": (Form("text"),),
    "equals": (Form("equal", 1, 1),),
    "compareTo": (Form("compare_to", 1, 1),),
    "plus": (Form("plus", 1, 1),),
    "minus": (Form("minus", 1, 1),),
    "multiply": (Form("times", 1, 1),),
    "div": (Form("divide", 1, 1),),
    "getAt": (Form("item_at", 1, 1),),
    "putAt": (Form("put_at", 2, 2),),
    # lists, maps and strings
    "size": (Form("size_of"),),
    "isEmpty": (Form("is_empty"),),
    "contains": (Form("contains", 1, 1),),
    "get": (Form("get_item", 1, 2),),
    "remove": (Form("remove_item", 1, 1),),
    "clear": (Form("clear"),),
    "clone": (Form("copy_of"),),
    "reverse": (Form("reversed_copy"),),
    "take": (Form("take", 1, 1),),
    "drop": (Form("drop", 1, 1),),
    "indexOf": (Form("index_of", 1, 2),),
    "lastIndexOf": (Form("last_index_of", 1, 1),),
    "count": (Form("count_of", 1, 1), Form("count_where", closure="element")),
    "toList": (Form("listed"),),
    # with a closure
    "each": (Form("each", closure="action"),),
    "eachWithIndex": (Form("each_with_index", closure="indexed"),),
    "times": (Form("repeat", closure="counter"),),
    "upto": (Form("count_up", 1, 1, closure="counter"),),
    "collect": (Form("collect"), Form("collect", closure="element")),
    "collectMany": (Form("collect_many", closure="element"),),
    "collectEntries": (Form("collect_entries"), Form("collect_entries", closure="element")),
    "find": (Form("find"), Form("find", closure="element")),
    "findAll": (Form("find_all"), Form("find_all", closure="element")),
    "findIndexOf": (Form("find_index", closure="element"),),
    "any": (Form("any_item"), Form("any_item", closure="element")),
    "every": (Form("every_item"), Form("every_item", closure="element")),
    "takeWhile": (Form("take_while", closure="element"),),
    "dropWhile": (Form("drop_while", closure="element"),),
    "inject": (Form("fold", 1, 1, closure="fold"), Form("fold_from_first", closure="fold")),
    "groupBy": (Form("group_by", closure="element"),),
    "countBy": (Form("count_by", closure="element"),),
    "sum": (Form("total", 0, 1), Form("total_by", 0, 1, closure="element")),
    "sort": (Form("sort", 0, 1), Form("sort_by", 0, 1, closure="order", compares="sort_with")),
    "toSorted": (Form("sort", last="False"), Form("sort_by", closure="order", compares="sort_with", last="False")),
    "max": (Form("highest"), Form("highest_by", closure="order", compares="highest_with")),
    "min": (Form("lowest"), Form("lowest_by", closure="order", compares="lowest_with")),
    "unique": (Form("unique", 0, 1), Form("unique_by", 0, 1, closure="element")),
    "toUnique": (Form("unique", last="False"), Form("unique_by", closure="element", last="False")),
    "removeAll": (Form("remove_all", 1, 1), Form("remove_where", closure="element")),
    "retainAll": (Form("retain_all", 1, 1), Form("retain_where", closure="element")),
    # lists
    "add": (Form("add_item", 1, 2),),
    "addAll": (Form("add_all", 1, 1),),
    "leftShift": (Form("left_shift", 1, 1),),
    "containsAll": (Form("contains_all", 1, 1),),
    "removeAt": (Form("remove_item", 1, 1),),
    "join": (Form("joined", 0, 1),),
    "first": (Form("first"),),
    "last": (Form("last"),),
    "head": (Form("first"),),
    "tail": (Form("without_first"),),
    "init": (Form("without_last"),),
    "flatten": (Form("flat"),),
    "intersect": (Form("intersection", 1, 1),),
    "withIndex": (Form("with_index"),),
    "indexed": (Form("indexed"),),
    "collate": (Form("collated", 1, 1),),
    # maps and entries
    "containsKey": (Form("contains_key", 1, 1),),
    "containsValue": (Form("contains_value", 1, 1),),
    "getOrDefault": (Form("get_or_default", 2, 2),),
    "put": (Form("put", 2, 2),),
    "putAll": (Form("put_all", 1, 1),),
    "putIfAbsent": (Form("put_if_absent", 2, 2),),
    "subMap": (Form("sub_map", 1, 1),),
    "keySet": (Form("key_set"),),
    "values": (Form("values_of"),),
    "entrySet": (Form("entry_set"),),
    "getKey": (Form("entry_key"),),
    "getValue": (Form("entry_value"),),
    # strings
    "length": (Form("length_of"),),
    "toUpperCase": (Form("upper"),),
    "toLowerCase": (Form("lower"),),
    "trim": (Form("trimmed"),),
    "capitalize": (Form("capitalized"),),
    "uncapitalize": (Form("uncapitalized"),),
    "startsWith": (Form("starts_with", 1, 1),),
    "endsWith": (Form("ends_with", 1, 1),),
    "equalsIgnoreCase": (Form("same_ignoring_case", 1, 1),),
    "concat": (Form("concatenated", 1, 1),),
    "replace": (Form("replaced", 2, 2),),
    "substring": (Form("substring", 1, 2),),
    "charAt": (Form("character_at", 1, 1),),
    "padLeft": (Form("padded_left", 1, 2),),
    "padRight": (Form("padded_right", 1, 2),),
    "tokenize": (Form("tokens", 0, 1),),
    "readLines": (Form("lines_of"),),
    "isBlank": (Form("is_blank"),),
    "isAllWhitespace": (Form("is_blank"),),
    # numbers
    "toInteger": (Form("to_integer"),),
    "toLong": (Form("to_integer"),),
    "intValue": (Form("to_integer"),),
    "longValue": (Form("to_integer"),),
    "toBigInteger": (Form("to_integer"),),
    "toDouble": (Form("to_float"),),
    "toFloat": (Form("to_float"),),
    "doubleValue": (Form("to_float"),),
    "toBigDecimal": (Form("to_decimal"),),
    "toBoolean": (Form("to_boolean"),),
    "booleanValue": (Form("to_boolean"),),
    "isInteger": (Form("is_integer_text"),),
    "isLong": (Form("is_integer_text"),),
    "isNumber": (Form("is_number_text"),),
    "isDouble": (Form("is_number_text"),),
    "isBigDecimal": (Form("is_number_text"),),
    "intdiv": (Form("whole_quotient", 1, 1),),
    "mod": (Form("remainder", 1, 1),),
    "power": (Form("power", 1, 1),),
    "abs": (Form("magnitude"),),
    "negate": (Form("negative"),),
    "round": (Form("rounded_number", 0, 1),),
    "setScale": (Form("with_places", 1, 2),),
    # dates and exceptions
    "getTime": (Form("time_of"),),
    "format": (Form("format_date", 1, 1),),
    "before": (Form("is_before", 1, 1),),
    "after": (Form("is_after", 1, 1),),
    "getMessage": (Form("error_message"),),
    "getLocalizedMessage": (Form("error_message"),),
}

VIEWS: Final = frozenset({"keySet", "values", "entrySet"})
CHANGING: Final = frozenset({"remove", "removeAll", "retainAll", "clear", "add", "addAll", "removeAt", "leftShift"})
"""In Groovy a view of a map writes through to the map. Ours is a copy, so changing one is refused."""

_OUTSIDE: Final = "a script sees only its variables; do this in a node of the flow"
_RUN: Final = "a script starts nothing; do this in a node of the flow"
_CLASS: Final = "ask with instanceof"

REFUSED: Final[dict[str, tuple[str, str]]] = {
    "execute": ("execute() (starting a process)", _RUN),
    "evaluate": ("evaluate()", _RUN),
    "getClass": ("getClass()", _CLASS),
    "getMetaClass": ("metaprogramming", "write the code that is meant"),
    "invokeMethod": ("metaprogramming", "call the method by its name"),
    "getProperty": ("metaprogramming", "write map[name]"),
    "setProperty": ("metaprogramming", "write map[name] = value"),
    "respondsTo": ("metaprogramming", _CLASS),
    "hasProperty": ("metaprogramming", "ask with containsKey"),
    "with": ("with { }", "name the object before each property"),
    "tap": ("tap { }", "name the object before each property"),
    "withDefault": ("withDefault { }", "write map[key] ?: default"),
    "stream": ("Java streams", "use collect, findAll, any, every, sum, sort or join"),
    "parallelStream": ("Java streams", "use collect, findAll, any, every, sum, sort or join"),
    "iterator": ("iterator()", "use each or for (x in …)"),
    "toSet": ("a set", "use a list and unique()"),
    "push": ("push()", "use << ; versions of Groovy disagree about the end"),
    "pop": ("pop()", "use removeAt(list.size() - 1); versions of Groovy disagree about the end"),
    "printStackTrace": ("printStackTrace()", "leave it out"),
    "wait": ("wait()", "use a sleep node"),
    "sleep": ("sleep()", "use a sleep node"),
    "notify": ("notify()", "use a signal"),
    "getText": ("reading a file or an address", _OUTSIDE),
    "toURL": ("a URL", "use an http node"),
    "eachLine": ("reading lines", "write text.readLines().each { … }"),
    "eachMatch": ("regular expressions", "use split, contains, startsWith or endsWith"),
    "findAllMatch": ("regular expressions", "use split, contains, startsWith or endsWith"),
    "asImmutable": ("asImmutable()", "leave it out"),
    "append": ("a StringBuilder", "collect into a list and join() it, or use +="),
    "hashCode": ("hashCode()", "compare with =="),
    "bytes": ("bytes", "keep to text"),
    "getBytes": ("bytes", "keep to text"),
    "encodeBase64": ("base64", "use the function base64_encode in an expression: ${base64_encode(data.text)}"),
    "md5": ("digests", "use a transform node"),
}

REFUSED_PROPERTIES: Final[dict[str, tuple[str, str]]] = {
    "class": ("`.class`", _CLASS),
    "metaClass": ("metaprogramming", "write the code that is meant"),
}
