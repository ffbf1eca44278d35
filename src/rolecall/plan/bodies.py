"""Reads what a write sends: objects and patches as JSON or YAML, and what a delete asks for."""

from __future__ import annotations

import json
from typing import Any

import yaml

from rolecall.json_object import Json
from rolecall.plan.answers import NotAnswerableError
from rolecall.proxy import PlayRequest

APPLY_PATCH = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
PATCH_TYPES = frozenset({APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH})


def value_of(asked: PlayRequest) -> Any:
    """What a body says; raises `NotAnswerableError` for a format that is not read here."""
    try:
        return json.loads(asked.body)
    except (ValueError, RecursionError):
        pass
    if not asked.media_type.endswith("yaml"):
        raise NotAnswerableError(f"a write of {asked.info.resource} as `{asked.media_type}`")
    try:
        return yaml.safe_load(asked.body)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NotAnswerableError(
            f"a write of {asked.info.resource} in YAML that cannot be read"
        ) from error


def object_of(asked: PlayRequest) -> Json:
    """The object that a body says."""
    found = value_of(asked)
    metadata = found.get("metadata", {}) if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(metadata, dict):
        raise NotAnswerableError(f"a write of {asked.info.resource} whose body is not an object")
    return found


def trial_of_delete(asked: PlayRequest) -> bytes:
    """The options of a delete as those of a dry run.

    With a body, the API server looks at the body alone: there the dry run must be said.
    """
    options: Json = {"kind": "DeleteOptions", "apiVersion": "v1"}
    if asked.body and not asked.is_protobuf:
        said = value_of(asked)
        options = {**options, **(said if isinstance(said, dict) else {})}
    else:
        options |= {
            name: asked.query[name] for name in ("propagationPolicy",) if asked.query.get(name)
        }
    # A version of `meta` would need its own group; what is asked for is the same.
    return json.dumps({**options, "dryRun": ["All"]}).encode()
