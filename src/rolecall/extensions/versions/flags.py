"""Flags of webhooks and of storage versions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rolecall.errors import InputError
from rolecall.settings import Chosen, ExtensionFlags, Flag, FlagGroup, FlagKind

_GROUP = FlagGroup(
    "webhooks and storage versions",
    (
        Flag(
            "webhook-bind-address",
            FlagKind.TEXT,
            ":9443",
            "address where the API server asks for conversions and admission, with HTTPS; `0`: nowhere;"
            " opened only where conversions.yaml, `validate` or `mutate` is there",
        ),
        Flag(
            "webhook-cert-path",
            FlagKind.PATH,
            "/tmp/k8s-webhook-server/serving-certs",  # noqa: S108 - a published path
            "folder with tls.crt and tls.key, mounted by cert-manager or OLM, which then also set the"
            " `caBundle`; without them the operator makes its own certificate and sets the `caBundle`",
        ),
        Flag(
            "webhook-client-ca",
            FlagKind.PATH,
            "",
            "file with the authorities of client certificates: clients without one are refused, so the"
            " API server must present one; absent: anyone who reaches the port is answered",
        ),
        Flag(
            "webhook-service",
            FlagKind.TEXT,
            "",
            "name of the Service, in the operator's namespace, by which the API server reaches the"
            " operator; also of the Secret with its certificate and of the webhook configurations",
        ),
        Flag(
            "webhook-url",
            FlagKind.TEXT,
            "",
            "outside of a cluster: the URL at which the API server reaches the operator; default:"
            " https://127.0.0.1 and the port, where the API server is on this machine",
        ),
        Flag(
            "max-admission-runs",
            FlagKind.WHOLE,
            "0",
            "most plays of `validate` and `mutate` at the same time, beside `--max-runs`; 0: one for"
            " each CPU of this process",
        ),
        Flag(
            "webhook-period",
            FlagKind.DURATION,
            "1m",
            "look this often at the certificate, and at what CRDs and webhook configurations say of"
            " the operator, and mend it",
        ),
        Flag(
            "migrate-storage",
            FlagKind.TRUTH,
            "false",
            "after the storage version of a watched kind was changed, rewrite its objects, and say in"
            " the CRD that none is stored at an older one; one replica does it, 20 a second",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class VersionFlags(ExtensionFlags):
    """The server that the API server asks; it opens only where there is something to be asked for."""

    group = _GROUP

    bind: str = ":9443"  # `0` disables
    # Where the SDK's webhook server looks; OLM and cert-manager mount their files there.
    folder: Path = Path("/tmp/k8s-webhook-server/serving-certs")  # noqa: S108 - a published path
    # Name of the Service in the operator's namespace, of the Secret with our own certificate, and of
    # both webhook configurations. Empty: none, as outside of a cluster.
    service: str = ""
    url: str = ""  # outside of a cluster: where the API server reaches us; empty: on loopback
    client_ca: Path | None = None  # clients need a certificate of it; None: any client may connect
    period_s: float = 60.0  # between checks of the certificates and of the webhook registrations
    max_admission_runs: int | None = None  # plays of admission in flight; None: one for each CPU
    migrates_storage: bool = False  # rewrite objects after their storage version was changed

    @classmethod
    def read(cls, chosen: Chosen) -> Self:
        service, url = chosen["webhook-service"] or "", chosen["webhook-url"] or ""
        if service and url:
            raise InputError(
                "`--webhook-service` and `--webhook-url` both say where the API server reaches us",
                hint="in a cluster take --webhook-service, outside of it --webhook-url",
            )
        if url and not url.startswith("https://"):
            raise InputError(f"--webhook-url: `{url}` does not begin with https://")
        client_ca = chosen["webhook-client-ca"]
        return cls(
            bind=chosen["webhook-bind-address"],
            folder=Path(chosen["webhook-cert-path"]),
            service=service,
            url=url.rstrip("/"),
            client_ca=Path(client_ca) if client_ca else None,
            period_s=max(1.0, chosen["webhook-period"]),
            max_admission_runs=chosen["max-admission-runs"] or None,
            migrates_storage=chosen["migrate-storage"],
        )
