"""Every key of conversions.yaml, as tables: of an entry, of a step, of each rule."""

from __future__ import annotations

from rolecall.documents import Form, YamlKey

CONVERSION_KEYS = (
    YamlKey("group", Form.TEXT, "", "API group, as in the CRD", is_required=True),
    YamlKey("kind", Form.TEXT, "", "kind, as in `kind:` of an object", is_required=True),
    YamlKey(
        "steps",
        Form.STEPS,
        "",
        "each pair of neighbouring versions, from the oldest to the newest",
        is_required=True,
    ),
)

STEP_KEYS = (
    YamlKey("older", Form.TEXT, "", "the version before", is_required=True),
    YamlKey("newer", Form.TEXT, "", "the version after", is_required=True),
    YamlKey("rules", Form.RULES, "", "what differs between the two; all else is the same in both"),
)

_TO = YamlKey("to", Form.TEXT, "", "the field in the newer version", is_required=True)
_TO_OR_SAME = YamlKey("to", Form.TEXT, "the same", "the field in the newer version")
_LOSSY = YamlKey(
    "lossy",
    Form.TRUTH,
    "false",
    "what does not come back is lost, instead of being kept in an annotation",
)
_OF = YamlKey("of", Form.TEXT, "", "the version that has the field", is_required=True)

# The first key of a rule names what it does.
RULE_KEYS: dict[str, tuple[YamlKey, ...]] = {
    "rename": (
        YamlKey("rename", Form.TEXT, "", "a field of the older version", is_required=True),
        _TO,
    ),
    "split": (
        YamlKey("split", Form.TEXT, "", "a text of the older version", is_required=True),
        YamlKey(
            "as",
            Form.TEXT,
            "",
            "the text, parts in braces: `{repository}:{tag}`; all but the first may be missing",
            is_required=True,
        ),
        YamlKey("into", Form.TEXT_MAP, "", "part to field of the newer version", is_required=True),
        YamlKey("parts", Form.TEXT_MAP, "`.+`", "part to the regular expression of its text"),
        YamlKey("numbers", Form.TEXTS, "", "parts that are whole numbers where they are fields"),
        _LOSSY,
    ),
    "join": (
        YamlKey("join", Form.TEXT_MAP, "", "part to field of the older version", is_required=True),
        YamlKey("as", Form.TEXT, "", "the text, with its parts in braces", is_required=True),
        _TO,
        YamlKey("parts", Form.TEXT_MAP, "`.+`", "part to the regular expression of its text"),
        YamlKey("numbers", Form.TEXTS, "", "parts that are whole numbers where they are fields"),
        _LOSSY,
    ),
    "values": (
        YamlKey("values", Form.TEXT, "", "a field of the older version", is_required=True),
        YamlKey("map", Form.TEXT_MAP, "", "older value to newer value", is_required=True),
        _TO_OR_SAME,
        _LOSSY,
    ),
    "wrap": (
        YamlKey("wrap", Form.TEXT, "", "a value of the older version", is_required=True),
        YamlKey("to", Form.TEXT, "", "the list of the newer version", is_required=True),
        _LOSSY,
    ),
    "entries": (
        YamlKey("entries", Form.TEXT, "", "a map of the older version", is_required=True),
        YamlKey("to", Form.TEXT, "the same", "the list of the newer version"),
        YamlKey("key", Form.TEXT, "name", "field of an entry that has the key"),
        YamlKey("value", Form.TEXT, "value", "field of an entry that has the value"),
        _LOSSY,
    ),
    "default": (
        YamlKey(
            "default", Form.TEXT, "", "a field that the newer version alone has", is_required=True
        ),
        YamlKey(
            "value",
            Form.ANYTHING,
            "",
            "what it is for objects of the older version",
            is_required=True,
        ),
        _LOSSY,
    ),
    "keep": (
        YamlKey("keep", Form.TEXT, "", "a field that one version alone has", is_required=True),
        _OF,
    ),
    "lose": (
        YamlKey(
            "lose", Form.TEXT, "", "a field of one version that the other loses", is_required=True
        ),
        _OF,
    ),
    "each": (
        YamlKey("each", Form.TEXT, "", "a list that is at this place in both", is_required=True),
        YamlKey("rules", Form.RULES, "", "what differs in its items", is_required=True),
        _LOSSY,
    ),
}
