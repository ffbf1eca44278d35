"""The commands for developers; the command line of the engine finds them by `DEVELOPER_COMMANDS`."""

from rolecall.cli import CommandModule


def _command(module: str, summary: str) -> CommandModule:
    return CommandModule(f"{__name__}.{module}", summary)


DEVELOPER_COMMANDS = {
    "init": _command("init", "start a project in this folder"),
    "create": _command("create", "add a kind to a project"),
    "check": _command("check", "check watches, roles, playbooks, CRDs and RBAC against each other"),
    "rbac": _command("rbac", "write the least rights that the roles need, or check those granted"),
    "bundle": _command("bundle", "write the OLM bundle of a project, or check it"),
    "catalog": _command("catalog", "put the OLM bundle of a project into its catalog"),
    "run-role": _command("run_role", "run roles of CRs, without an operator"),
    "doctor": _command("doctor", "look at all that an operator needs here, and say what to do"),
    "demo": _command("demo", "show this folder's operator at work on a cluster of its own"),
    "cluster": _command(
        "cluster", "a real control plane on this machine, for tests and for trying"
    ),
}
