"""The commands for developers; the command line of the engine finds them by `DEVELOPER_COMMANDS`."""

from rolecall.cli import CommandModule, Purpose

_SUMMARIES = {
    Purpose.WRITE: {
        "init": "start a project in this folder",
        "create": "add a kind or handlers to a project",
        "check": "hold watches, roles, CRDs, RBAC against each other",
        "rbac": "write the least rights of roles, or check those granted",
        "convert": "show a custom resource at another version",
        "webhooks": "write the manifests for conversions and admission",
    },
    Purpose.PACK: {
        "bundle": "write the OLM bundle of a project, or check it",
        "catalog": "put the OLM bundle of a project into its catalog",
    },
    Purpose.RUN: {
        "run-role": "run roles of CRs, without an operator",
        "plan": "show what roles of CRs would change",
        "test": "find what this operator does wrong in states between",
        "demo": "run this folder's operator on a new local cluster",
    },
    Purpose.LOOK: {"doctor": "look at all that an operator needs here, and say what to do"},
    Purpose.CLUSTER: {"cluster": "a real control plane on this machine, for tests"},
}
DEVELOPER_COMMANDS = {
    name: CommandModule(f"{__name__}.{name.replace('-', '_')}", summary, purpose)
    for purpose, summaries in _SUMMARIES.items()
    for name, summary in summaries.items()
}
