"""Hides secret values in whatever leaves a run: events, stdout, artifacts, messages, logs.

Redaction goes by value, not by place: once a play has read or written a Secret, its values may come
back in any message, diff or debug task. What is no secret stays readable: class of error, HTTP code,
object, task. A value is looked for in the forms in which it travels: base64 as in `data`, in clear,
escaped as in JSON, in JSON within JSON (`to_json` in what a task prints), and in a URL, and a text of
several lines line by line.

The hard part is not to hide too much. Hidden inside their Secret alone are values of one or two
letters, words of the CR's own name, namespace and kind, and ordinary words and small numbers
(`database: awx`, `port: "5432"`) whose key does not name a credential. Other short values are hidden
as whole words, and a few words that plays say all the time (`true`, `default`) never. Rejected: hiding
by key names alone (`password: ...`), which misses most and breaks what it hits.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

_SafeLoader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MASK = "********"
# Would hide half of any play's output, and reveal nothing.
_EVERYDAY_WORDS = frozenset({"true", "false", "null", "none", "default", "localhost", "opaque"})
_SHORTEST = 3  # shorter values are hidden only within their Secret
_LONG = 8  # from here on a value is hidden inside words as well
_SECRET_FIELDS = ("data", "stringData")
# Keys whose values are hidden although they are ordinary words.
_NAMES_CREDENTIAL = re.compile(
    r"pass|pwd|pin\b|secret|token|key|cred|auth|salt|hash", re.IGNORECASE
)
# Of less than 34 bits, and in the text of any play: a word in one case, or a number such as a port.
_ORDINARY = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]{1,5}")
_DNS_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_WORDS = re.compile(r"[A-Z]*[a-z0-9]+|[A-Z]+")
_CREDENTIAL_FIELDS = ("password", "token", "client-key-data")
# A manifest given as text is worth parsing only if it may hold a Secret, and only if it is no bomb:
# aliases can blow a few lines up to gigabytes. (The API's answer shows the same Secret once more.)
_SECRET_MANIFEST = re.compile(r"""["']?kind["']?\s*:\s*["']?Secret\b""")
_YAML_ALIAS = re.compile(r"(?:^|[\s,\[{])\*\S")
_LONGEST_MANIFEST = 200_000
# Credentials that are known by their shape alone: signed tokens (a JWT), and what HTTP sends as login.
_JWT = r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"
_HEADER = r"(?:(?<=\bBasic )|(?<=\bbasic )|(?<=\bBearer )|(?<=\bbearer ))[\w.~+/-]{8,}=*"
_CREDENTIAL = re.compile(f"{_JWT}|{_HEADER}")
_MAY_HOLD_CREDENTIAL = re.compile(r"eyJ|\b[Bb](?:asic|earer) ")
_SHORTEST_TOKEN = 16

# Readers match on these, and they say nothing about secrets; a Secret that holds `localhost`, or the
# name of a task's module, must not make a run unreadable.
_KEPT_FIELDS = frozenset(
    {
        "host",
        "remote_addr",
        "task_action",
        "resolved_action",
        "task_path",
        "task_uuid",
        "play_uuid",
        "playbook_uuid",
        "uuid",
        "playbook",
        "role",
        "ok",
        "changed",
        "dark",
        "failures",
        "ignored",
        "processed",
        "rescued",
        "skipped",
    }
)


class Redactor:
    """Knows the secret values of one run and masks them in texts and JSON-like values."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._long: list[str] = []  # longest first, so that no value leaves a rest of another
        self._short: re.Pattern[str] | None = None
        self._in_json: set[str] = set()  # as JSON spells them within a string
        self._is_stale = False  # `_values` grew since `_long` and `_short` were made
        self._crs_words: frozenset[str] = frozenset()  # in lower case
        self._crs_name = ""

    @classmethod
    def for_run(cls, cr: Mapping[str, Any], kubeconfig: Path) -> Redactor:
        """Start with the run's own credential, and with the CR's data where the CR is a Secret."""
        redactor = cls()
        redactor._crs_words, redactor._crs_name = _words_of(cr), _name_of(cr)
        redactor.learn(cr)
        for credential in _credentials(kubeconfig):
            redactor._remember(credential)
        return redactor

    @property
    def known(self) -> int:
        """How many values are known; grows when an event brought new ones."""
        return len(self._values)

    def learn(self, value: Any) -> None:
        """Find Secrets anywhere in a JSON-like value and remember their values."""
        for secret in _secrets_in(value):
            for field in _SECRET_FIELDS:
                texts = secret.get(field)
                for key, text in texts.items() if isinstance(texts, dict) else ():
                    if isinstance(text, str):
                        plain = _decoded(text) if field == "data" else text
                        if not self._is_ordinary(str(key), plain.strip()):
                            self._remember(text)
                            self._remember(plain)

    def may_hide(self, json_text: str) -> bool:
        """Whether anything in this JSON may have to be masked or learnt; a no is sure, and quick."""
        if self._is_stale:
            self._prepare()
        is_likely = "Secret" in json_text or _MAY_HOLD_CREDENTIAL.search(json_text) is not None
        return is_likely or any(form in json_text for form in self._in_json)

    def text(self, text: str) -> str:
        """The same text with every known value masked."""
        if self._is_stale:
            self._prepare()
        for value in self._long:
            if value in text:
                text = text.replace(value, MASK)
        text = self._short.sub(MASK, text) if self._short else text
        return _CREDENTIAL.sub(_mask_of, text) if _MAY_HOLD_CREDENTIAL.search(text) else text

    def value(self, value: Any) -> Any:
        """The same JSON-like value with every known value masked, and Secrets' data as a whole."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        is_secret = _is_secret(value)
        return {
            self.text(key) if isinstance(key, str) else key: (
                _masked(item) if is_secret and key in _SECRET_FIELDS else self.value(item)
            )
            for key, item in value.items()
        }

    def event_data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """An event's data with values masked, and what readers of events match on as it was."""
        return {
            key: item if key in _KEPT_FIELDS else self.value(item) for key, item in data.items()
        }

    def _is_ordinary(self, key: str, text: str) -> bool:
        """Whether a value may stand anywhere in a play's output, so that its Secret alone hides it."""
        if text.lower() in self._crs_words:
            return True
        if not text or _NAMES_CREDENTIAL.search(key):
            return False
        if len(text) < _LONG and _ORDINARY.fullmatch(text):
            return True
        # What the role named after its CR, such as the host of a database.
        is_named_after = self._crs_name and text.startswith(
            (f"{self._crs_name}-", f"{self._crs_name}.")
        )
        return bool(is_named_after and _DNS_NAME.fullmatch(text))

    def _remember(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines()] if "\n" in text else []
        for part in [text, text.strip(), *(line for line in lines if len(line) >= _LONG)]:
            for form in _forms(part):
                if len(form) >= _SHORTEST and form.lower() not in _EVERYDAY_WORDS:
                    self._is_stale |= form not in self._values
                    self._values.add(form)

    def _prepare(self) -> None:
        ordered = sorted(self._values, key=lambda value: (-len(value), value))
        self._long = [value for value in ordered if len(value) >= _LONG]
        short = "|".join(re.escape(value) for value in ordered if len(value) < _LONG)
        self._short = re.compile(rf"(?<!\w)(?:{short})(?!\w)") if short else None
        self._in_json = {json.dumps(value)[1:-1] for value in ordered}
        self._is_stale = False


def _name_of(cr: Mapping[str, Any]) -> str:
    metadata = cr.get("metadata")
    return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""


def _words_of(cr: Mapping[str, Any]) -> frozenset[str]:
    """Name, namespace and kind of a CR, and the words that they consist of."""
    metadata = cr.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    whole = [str(each or "") for each in (_name_of(cr), metadata.get("namespace"), cr.get("kind"))]
    parts = [word for text in whole for word in _WORDS.findall(text)]
    return frozenset(word.lower() for word in (*whole, *parts) if word)


def _mask_of(found: re.Match[str]) -> str:
    """What stands for a credential; prose behind `Basic` or `Bearer` stays as it is."""
    word = found[0]
    if word.startswith("eyJ"):
        return MASK
    if found.string[found.start() - 3] in "iI":  # of Basic: a name and a password, in base64
        return MASK if ":" in _decoded(word) else word
    is_token = len(word) >= _SHORTEST_TOKEN and any(each.isdigit() for each in word)
    return MASK if is_token else word


def _forms(text: str) -> set[str]:
    """How a value is spelled on its way: as it is, in a URL, in JSON, and in JSON within JSON."""
    in_json = _as_in_json(text)
    # As Ansible's `urlencode` has it, and as a path or a password of a URL has to be.
    in_url = {quote(text, safe=safe, errors="replace") for safe in ("/", "")}
    return {text} | in_url | in_json.union(*map(_as_in_json, in_json))


def _as_in_json(text: str) -> set[str]:
    return {json.dumps(text, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}


def _is_secret(value: Mapping[str, Any]) -> bool:
    return value.get("kind") == "Secret"


def _secrets_in(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        if _is_secret(value):
            yield value
        yield from _overwritten_secrets(value)
        for item in value.values():
            yield from _secrets_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _secrets_in(item)
    elif isinstance(value, str) and _SECRET_MANIFEST.search(value):
        yield from _secrets_in(_parsed_manifest(value))


def _overwritten_secrets(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What a diff says of a Secret: it repeats the fields, the old values too, without the kind."""
    written, diff = result.get("result"), result.get("diff")
    if isinstance(written, dict) and _is_secret(written) and isinstance(diff, dict):
        yield from (side for side in diff.values() if isinstance(side, dict))


def _parsed_manifest(text: str) -> list[Any]:
    """The documents of a manifest, as JSON-like values that hold no manifest as text again."""
    if len(text) > _LONGEST_MANIFEST or _YAML_ALIAS.search(text):
        return []
    try:
        documents = list(yaml.load_all(text, Loader=_SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    return [document for document in documents if isinstance(document, (dict, list))]


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _masked(value: Any) -> Any:
    return dict.fromkeys(value, MASK) if isinstance(value, dict) else MASK


def _credentials(kubeconfig: Path) -> Iterator[str]:
    """Passwords, tokens and keys of a kubeconfig, as they stand and as HTTP sends them."""
    try:
        config = yaml.load(kubeconfig.read_text(), Loader=_SafeLoader)  # noqa: S506 - it is safe
    except (OSError, ValueError, yaml.YAMLError):
        return  # the play will say so; what cannot be read cannot leak
    entries = config.get("users") if isinstance(config, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        user = entry.get("user") if isinstance(entry, dict) else None
        if not isinstance(user, dict):
            continue
        for field in _CREDENTIAL_FIELDS:
            if isinstance(user.get(field), str):
                yield user[field]
        if "password" in user:
            pair = f"{user.get('username', '')}:{user['password']}"
            yield base64.b64encode(pair.encode()).decode()
