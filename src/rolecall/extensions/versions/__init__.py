"""Versions of custom resources: conversion and admission over webhooks, and storage migration."""

from rolecall.cli import CommandModule, Purpose

VERSION_COMMANDS = {
    "migrate-storage": CommandModule(
        f"{__name__}.command_migrate_storage",
        "rewrite the CRs of a kind at its storage version",
        Purpose.ACT,
    )
}

__all__ = ["VERSION_COMMANDS"]
