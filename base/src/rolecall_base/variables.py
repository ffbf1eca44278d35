"""Variables of the environment, and settings of Ansible, that engine and warm host agree about."""

from __future__ import annotations

# Names a run's temporary folder to the process that ends the run; Ansible does not read it.
SCRATCH_VARIABLE = "ROLECALL_SCRATCH"
# Says to a run child that it plans, and where to record what it left out.
PLAN_VARIABLE = "ROLECALL_PLAN_NOTES"

# Ours and ansible-runner's: different in each run, and never read while Ansible is imported, or read
# again by a run child.
PER_RUN_VARIABLES = frozenset(
    {
        "ANSIBLE_CACHE_PLUGIN_CONNECTION",
        "ANSIBLE_LOCAL_TEMP",
        "ANSIBLE_REMOTE_TEMP",
        "ANSIBLE_ROLES_PATH",
        "AWX_ISOLATED_DATA_DIR",
        "K8S_AUTH_KUBECONFIG",
        "KUBECACHEDIR",
        "KUBECONFIG",
        "OLDPWD",
        "PWD",
        PLAN_VARIABLE,
        "TMPDIR",
    }
)

# The settings behind them, by ansible-core's names; the last makes the run's temporary folder.
PER_RUN_SETTINGS = ("DEFAULT_ROLES_PATH", "CACHE_PLUGIN_CONNECTION", "DEFAULT_LOCAL_TMP")
