"""Typed calls to the API server: read, write, list, watch, discovery; errors by meaning.

The only room, with the proxy and the metrics endpoint, that uses HTTP. Give a `Client` what
`Credentials.load(...)` found, and it keeps logged in by itself.
"""

from rolecall.kube.account_tokens import token_for
from rolecall.kube.annotated_owners import (
    OWNER_ANNOTATION,
    OWNER_TYPE_ANNOTATION,
    is_owned_by,
    owner_annotations,
)
from rolecall.kube.client import Client
from rolecall.kube.cluster import cluster_id
from rolecall.kube.credentials import Access, Credentials
from rolecall.kube.discovery import Discovery
from rolecall.kube.errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    CredentialsError,
    ForbiddenError,
    GoneError,
    NoClusterNamedError,
    NoSuchKindError,
    NotFoundError,
    Target,
    UnauthorizedError,
    UnavailableError,
    UnprocessableError,
    WebhookDownError,
    missing_rule_hint,
)
from rolecall.kube.kind_names import NamedKind, named_kinds
from rolecall.kube.lists import Page
from rolecall.kube.pod_commands import Channel, PodCommand, run_in_pod
from rolecall.kube.pod_ports import join_pod_port
from rolecall.kube.resource import Resource
from rolecall.kube.reviews import ReviewApi, TokenUser, is_allowed, user_of
from rolecall.kube.streams import WatchEvent, object_of
from rolecall.kube.tls_errors import TlsError
from rolecall.kube.token_clients import TokenClients
from rolecall.kube.transport import Timeouts, named_object_in
from rolecall.kube.unreachable import why_unreachable

__all__ = [
    "OWNER_ANNOTATION",
    "OWNER_TYPE_ANNOTATION",
    "Access",
    "AlreadyExistsError",
    "ApiError",
    "Channel",
    "Client",
    "ConflictError",
    "Credentials",
    "CredentialsError",
    "Discovery",
    "ForbiddenError",
    "GoneError",
    "NamedKind",
    "NoClusterNamedError",
    "NoSuchKindError",
    "NotFoundError",
    "Page",
    "PodCommand",
    "Resource",
    "ReviewApi",
    "Target",
    "Timeouts",
    "TlsError",
    "TokenClients",
    "TokenUser",
    "UnauthorizedError",
    "UnavailableError",
    "UnprocessableError",
    "WatchEvent",
    "WebhookDownError",
    "cluster_id",
    "is_allowed",
    "is_owned_by",
    "join_pod_port",
    "missing_rule_hint",
    "named_kinds",
    "named_object_in",
    "object_of",
    "owner_annotations",
    "run_in_pod",
    "token_for",
    "user_of",
    "why_unreachable",
]
