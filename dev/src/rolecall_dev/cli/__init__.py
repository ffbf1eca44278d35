"""The commands for developers; the command line of the engine finds them by `DEVELOPER_COMMANDS`."""

from rolecall.cli import CommandModule, Purpose


def _command(module: str, summary: str, purpose: Purpose) -> CommandModule:
    return CommandModule(f"{__name__}.{module}", summary, purpose)


DEVELOPER_COMMANDS = {
    "init": _command("init", "start a project in this folder", Purpose.WRITE),
    "create": _command("create", "add a kind to a project", Purpose.WRITE),
    "check": _command("check", "hold watches, roles, CRDs, RBAC against each other", Purpose.WRITE),
    "rbac": _command(
        "rbac", "write the least rights of roles, or check those granted", Purpose.WRITE
    ),
    "convert": _command("convert", "show a custom resource at another version", Purpose.WRITE),
    "webhooks": _command(
        "webhooks", "write the manifests for conversions and admission", Purpose.WRITE
    ),
    "bundle": _command(
        "bundle",
        "write the OLM bundle of a project, or check it",
        Purpose.PACK,
    ),
    "catalog": _command(
        "catalog", "put the OLM bundle of a project into its catalog", Purpose.PACK
    ),
    "run-role": _command("run_role", "run roles of CRs, without an operator", Purpose.RUN),
    "plan": _command("plan", "show what roles of CRs would change", Purpose.RUN),
    "test": _command("test", "find what this operator does wrong in states between", Purpose.RUN),
    "doctor": _command(
        "doctor", "look at all that an operator needs here, and say what to do", Purpose.LOOK
    ),
    "demo": _command(
        "demo",
        "run this folder's operator on a new local cluster",
        Purpose.RUN,
    ),
    "cluster": _command(
        "cluster",
        "a real control plane on this machine, for tests",
        Purpose.CLUSTER,
    ),
}
