"""Brings an object's status and its Events to what a role says of it, with as few requests as that takes."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime, timezone

from ansible_collections.rolecall.operator.plugins.module_utils.api import ApiError, Resource
from ansible_collections.rolecall.operator.plugins.module_utils.status import (
    InvalidConditionsError,
    checked_conditions,
    contains,
    merged_conditions,
)

ATTEMPTS = 5  # a status that others write too conflicts now and then; five in a row is a fight
MOST_CHARACTERS = 1024  # of a message: what an Event takes, and more than people read
EVENTS = Resource("/api/v1", "events", namespaced=True, has_status=False)
NOT_FOUND, CONFLICT = 404, 409

_DURATION = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class InvalidReportError(ValueError):
    """What a task wants to say cannot be said, and why."""


def period_of(again):
    """`{"period": ...}`, which the engine reads from the task's result; empty where none is given."""
    if not again:
        return {}
    if again != "0" and _DURATION.sub("", again):
        raise InvalidReportError(
            f"`again: {again}` is not a duration; use a number and a unit, such as 30s or 5m"
        )
    return {"period": again}


def wanted_conditions(params):
    """`Ready` and the others as a status has them; raises with all that is wrong."""
    wanted, problems = [dict(each) for each in params["conditions"]], []
    if params["ready"]:
        ready = {"status": params["ready"], "reason": params["reason"]}
        wanted.insert(0, {"type": "Ready", **ready, "message": params["message"]})
    elif params["reason"] or params["message"]:
        problems.append("`reason` and `message` are those of `ready`, which is not given")
    if "conditions" in params["status"]:
        problems.append("`status` must not have `conditions`; use `ready` and `conditions`")
    types = [each["type"] for each in wanted]
    twice = sorted({name for name in types if types.count(name) > 1})
    problems += [f"the condition `{name}` is given twice" for name in twice]
    names = [each["name"] for each in params["events"] if each["name"]]
    bad = [name for name in names if not _NAME.fullmatch(name)]
    problems += [f"`name: {name}` of an Event must be small letters, digits, - and ." for name in bad]
    try:
        wanted = checked_conditions(map(_bounded, wanted))
    except InvalidConditionsError as error:
        problems.append(str(error))
    if problems:
        raise InvalidReportError("; ".join(problems))
    return wanted


def _bounded(condition):
    text = condition.get("message")
    return condition if text is None else {**condition, "message": shortened(text)}


def shortened(text, most=MOST_CHARACTERS):
    """The text, or its beginning."""
    return text if len(text) <= most else text[: most - 4] + " ..."


class Reporter:
    """Reads one object, and writes what is different."""

    def __init__(self, module, api, conditions):
        self.module = module
        self.api = api
        self.cr = module.params["cr"]
        self.conditions = conditions
        self.now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def run(self):
        """Whether anything was written."""
        params = self.module.params
        if not (self.conditions or params["status"] or params["events"]):
            return False
        try:
            current, changed = self._write_status()
            if current is None:  # deleted while the play ran: there is nothing to report on
                return False
            return any([changed, *[self._report(event, current) for event in params["events"]]])
        except ApiError as error:
            self.module.fail_json(msg=f"Failed to report: {error}", error=error.facts())

    def _write_status(self):
        """The object as it was read or is now, and whether its status was written."""
        resource = self._resource()
        path = resource.path(self.cr.get("namespace"), self.cr["name"])
        for attempt in range(ATTEMPTS):
            try:
                current = self.api.request("GET", path)
                body = self._change(current)
                if body is None or self.module.check_mode:
                    return current, body is not None
                written = self.api.request(
                    "PATCH", f"{path}/status", body, "application/merge-patch+json"
                )
            except ApiError as error:
                if error.status == NOT_FOUND:
                    return None, False
                if error.status == CONFLICT and attempt + 1 < ATTEMPTS:
                    continue
                raise
            versions = [each["metadata"]["resourceVersion"] for each in (current, written)]
            return written, versions[0] != versions[1]
        raise AssertionError("the last attempt returns or fails")

    def _resource(self):
        version, kind = self.cr["apiVersion"], self.cr["kind"]
        resource = self.api.find_resource(version, kind)
        if resource is None:
            self.module.fail_json(msg=f"the API server has no kind `{kind}` in `{version}`")
        if not resource.has_status:
            self.module.fail_json(
                msg=f"kind `{kind}` in `{version}` has no status subresource, so nothing can be"
                " reported; add `subresources: {status: {}}` to its version in the CRD"
            )
        return resource

    def _change(self, current):
        """The patch, or None where status says all of it already."""
        status = current.get("status") or {}
        wanted = dict(self.module.params["status"])
        is_same = contains(status, wanted, replace_lists=True)
        if self.conditions:
            existing = status.get("conditions") or []
            conditions = merged_conditions(existing, self.conditions, self.now)
            if conditions != existing:
                is_same, wanted["conditions"] = False, conditions
        if is_same:
            return None
        # Lists are written whole: they must not hide what another client wrote in between.
        version = current["metadata"]["resourceVersion"]
        return {"metadata": {"resourceVersion": version}, "status": wanted}

    def _report(self, event, current):
        """Post or update one Event; returns whether there was anything to report."""
        wanted = self._event(event, current)
        path = EVENTS.path(wanted["metadata"]["namespace"], wanted["metadata"]["name"])
        try:
            existing = self.api.request("GET", path)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise
            existing = None
        is_posted = existing is not None and all(
            existing.get(key) == wanted[key] for key in ("type", "reason", "message")
        )
        if is_posted and event["name"]:
            return False
        if self.module.check_mode:
            return True
        if existing is None:
            self.api.request("POST", EVENTS.path(wanted["metadata"]["namespace"]), wanted)
            return True
        first = existing.get("firstTimestamp") or self.now
        again = {"count": (existing.get("count") or 1) + 1, "firstTimestamp": first}
        self.api.request("PATCH", path, {**wanted, **again}, "application/merge-patch+json")
        return True

    def _event(self, event, current):
        metadata = current["metadata"]
        words = {"type": event["type"], "reason": event["reason"]}
        words["message"] = shortened(event["message"])
        digest = hashlib.sha256(repr(sorted(words.items())).encode()).hexdigest()[:16]
        suffix = "." + (event["name"] or digest)
        about = {key: self.cr[key] for key in ("apiVersion", "kind", "name")}
        about |= {key: metadata[key] for key in ("uid", "resourceVersion")}
        namespace = metadata.get("namespace")
        if namespace:
            about["namespace"] = namespace
        component = f"{self.cr['kind'].lower()}-role"
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": self.cr["name"][: 253 - len(suffix)] + suffix,
                "namespace": namespace or "default",
            },
            **words,
            "count": 1,
            "firstTimestamp": self.now,
            "lastTimestamp": self.now,
            "involvedObject": about,
            "source": {"component": component},
            "reportingComponent": component,
        }
