"""Names that Kubernetes, Ansible and kustomize will all accept, checked before anything is written.

Each check returns the name or raises an `InputError` with the rule in words. The hard part is what
follows from a name later: a Service is named after the project, so a project name that is legal by
itself can still make a deployment that the API server refuses.
"""

from __future__ import annotations

import re

from rolecall.errors import InputError

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_VERSION = re.compile(r"v[1-9]\d{0,2}((alpha|beta)[1-9]\d{0,2})?")
_KIND = re.compile(r"[A-Z][A-Za-z0-9]*")
_LONGEST_LABEL = 63
_LONGEST_NAME = 253
# The longest name that is built from the project's, and must be a label itself.
_LONGEST_SUFFIX = "-controller-manager-metrics-service"
_RESERVED_GROUPS = ("k8s.io", "kubernetes.io")


def checked_project_name(name: str) -> str:
    """A DNS label that leaves room for what is appended to it."""
    longest = _LONGEST_LABEL - len(_LONGEST_SUFFIX)
    if not _LABEL.fullmatch(name):
        raise InputError(
            f"project name `{name}` is not a DNS label: lower-case letters, digits and `-`",
            hint="choose one with `--project-name`",
        )
    if len(name) > longest:
        raise InputError(
            f"project name `{name}` has {len(name)} characters; {longest} are possible, since the"
            f" Service `{name}{_LONGEST_SUFFIX}` may have {_LONGEST_LABEL}",
            hint="choose a shorter one with `--project-name`",
        )
    return name


def checked_domain(domain: str) -> str:
    """A DNS name, such as `example.com`."""
    if not _is_dns_name(domain):
        raise InputError(
            f"domain `{domain}` is not a DNS name: labels of lower-case letters, digits and `-`,"
            " separated by dots"
        )
    return domain


def checked_group(group: str, domain: str) -> str:
    """The whole name of an API group: the group that was typed, and the project's domain."""
    whole = ".".join(part for part in (group, domain) if part)
    if (group and not _is_dns_name(group)) or not _is_dns_name(whole):
        raise InputError(
            f"group `{group}` is not a DNS name: labels of lower-case letters, digits and `-`,"
            " separated by dots"
        )
    if "." not in whole:
        raise InputError(
            f"group `{whole}` has no dot; the API server needs a DNS name such as `apps.example.com`",
            hint="give the project a domain: `domain: example.com` in PROJECT",
        )
    if any(whole == it or whole.endswith(f".{it}") for it in _RESERVED_GROUPS):
        raise InputError(
            f"group `{whole}` belongs to Kubernetes; the API server refuses CRDs in it"
        )
    return whole


def checked_version(version: str) -> str:
    """Such as `v1` or `v1alpha1`."""
    if not _VERSION.fullmatch(version):
        raise InputError(
            f"version `{version}` is not one such as `v1`, `v1alpha1` or `v2beta3`",
        )
    return version


def checked_kind(kind: str) -> str:
    """Letters and digits, the first a capital."""
    if not _KIND.fullmatch(kind):
        better = "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", kind))
        raise InputError(
            f"kind `{kind}` is not a name of letters and digits that begins with a capital",
            hint=f"`--kind {better}`" if _KIND.fullmatch(better) else "",
        )
    if len(kind) > _LONGEST_LABEL - len("List"):
        raise InputError(f"kind `{kind}` has {len(kind)} characters; 59 are possible")
    return kind


def checked_plural(plural: str) -> str:
    """A DNS label that begins with a letter."""
    if not _LABEL.fullmatch(plural) or not plural[0].isalpha() or len(plural) > _LONGEST_LABEL:
        raise InputError(
            f"plural `{plural}` is not a DNS label: lower-case letters, digits and `-`"
        )
    return plural


def _is_dns_name(name: str) -> bool:
    labels = name.split(".")
    fit = all(_LABEL.fullmatch(label) and len(label) <= _LONGEST_LABEL for label in labels)
    return fit and len(name) <= _LONGEST_NAME
