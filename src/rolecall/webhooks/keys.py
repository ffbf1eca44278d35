"""`validate` and `mutate` in watches.yaml, as tables."""

from __future__ import annotations

from rolecall.documents import Form, YamlKey

CONDITION_KEYS = (
    YamlKey("name", Form.TEXT, "", "how messages call it", is_required=True),
    YamlKey(
        "expression", Form.TEXT, "", "CEL; the play is asked where it is true", is_required=True
    ),
)

CEL_RULE_KEYS = (
    YamlKey(
        "rule",
        Form.TEXT,
        "",
        "CEL, true where the object may be written: with `self` and `oldSelf`, or with `object`,"
        " `oldObject`, `request`, `namespaceObject` and `authorizer`",
        is_required=True,
    ),
    YamlKey("message", Form.TEXT, "", "what the user reads where it is false", is_required=True),
)

MUTATE_KEYS = (
    YamlKey("playbook", Form.TEXT, "", "playbook to run; comes before `role`"),
    YamlKey("role", Form.TEXT, "", "role to run"),
    YamlKey(
        "operations",
        Form.TEXTS,
        "[CREATE, UPDATE]",
        "which requests are asked about; `validate` takes DELETE and CONNECT too",
    ),
    YamlKey(
        "subresources", Form.TEXTS, "", "which subresources are asked about too, such as `scale`"
    ),
    YamlKey(
        "failurePolicy",
        Form.TEXT,
        "Fail",
        "what becomes of a request where there is no verdict",
        choices=("Fail", "Ignore"),
    ),
    YamlKey("timeout", Form.DURATION, "10s", "until when a verdict must be there; 1s to 30s"),
    YamlKey(
        "matchConditions",
        Form.CONDITIONS,
        "",
        "only requests for which all of these are true",
        inside=CONDITION_KEYS,
    ),
    YamlKey("namespaceSelector", Form.SELECTOR, "", "only objects in namespaces with such labels"),
    YamlKey("objectSelector", Form.SELECTOR, "", "only objects with such labels"),
)

VALIDATE_KEYS = (
    *MUTATE_KEYS,
    YamlKey(
        "rules",
        Form.RULES,
        "",
        "what the API server checks by itself; needs no role",
        inside=CEL_RULE_KEYS,
    ),
)

WEBHOOK_KEYS = (
    YamlKey(
        "validate",
        Form.MAP,
        "",
        "what is asked before an object is stored, and may deny it",
        is_ours=True,
        inside=VALIDATE_KEYS,
    ),
    YamlKey(
        "mutate",
        Form.MAP,
        "",
        "what is asked before that, and may change the object",
        is_ours=True,
        inside=MUTATE_KEYS,
    ),
)
