"""Flags of the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rolecall.settings import Chosen, ExtensionFlags, Flag, FlagGroup, FlagKind

_GROUP = FlagGroup(
    "page to look at",
    (
        Flag(
            "page-bind-address",
            FlagKind.TEXT,
            "",
            "address of the page that shows what the operator does, such as `:8090`; with HTTPS unless"
            " it is on localhost; empty: nowhere. With --dev: any free port of localhost",
        ),
        Flag(
            "page-access",
            FlagKind.TEXT,
            "cluster",
            "`cluster`: users log in with a token of theirs and see what kubectl would show them;"
            " `local`: only on localhost; anyone with the printed address sees what the operator sees",
            choices=("cluster", "local"),
        ),
        Flag(
            "page-cert-path",
            FlagKind.PATH,
            "",
            "folder with tls.crt and tls.key for the page; default: a self-signed certificate",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class PageFlags(ExtensionFlags):
    group = _GROUP

    bind: str = ""  # empty: none
    # `cluster`: users log in with their tokens; `local`: anyone who has the printed address has access.
    access: str = "cluster"
    certificates: Path | None = None  # a folder with tls.crt and tls.key; None: a self-signed one

    @classmethod
    def read(cls, chosen: Chosen) -> Self:
        if chosen["dev"] and not chosen.is_set("page-bind-address"):
            bind, access = "127.0.0.1:0", "local"
        else:
            bind, access = chosen["page-bind-address"] or "", chosen["page-access"]
        folder = chosen["page-cert-path"]
        return cls(bind, access, Path(folder) if folder else None)
