"""Every key of watches.yaml, as one table."""

from __future__ import annotations

from rolecall.documents import Form, YamlKey

KIND_KEYS = (
    YamlKey("group", Form.TEXT, "", "API group; absent or empty: the core group"),
    YamlKey("version", Form.TEXT, "", "API version", is_required=True),
    YamlKey("kind", Form.TEXT, "", "kind, as in `kind:` of an object", is_required=True),
)

FINALIZER_KEYS = (
    YamlKey("name", Form.TEXT, "", "text put into `metadata.finalizers`", is_required=True),
    YamlKey(
        "playbook",
        Form.TEXT,
        "",
        "playbook to run before the object is removed; comes before `role`",
    ),
    YamlKey("role", Form.TEXT, "", "role to run before the object is removed"),
    YamlKey(
        "vars",
        Form.MAP,
        "",
        "extra variables of that run; without role or playbook, the entry's own play runs with them",
    ),
)

REQUIREMENT_KEYS = (
    YamlKey("key", Form.TEXT, "", "label name", is_required=True),
    YamlKey(
        "operator",
        Form.TEXT,
        "",
        "how the label is compared",
        is_required=True,
        choices=("In", "NotIn", "Exists", "DoesNotExist"),
    ),
    YamlKey("values", Form.TEXTS, "", "what it is compared with, for `In` and `NotIn`"),
)

SELECTOR_KEYS = (
    YamlKey("matchLabels", Form.TEXT_MAP, "", "labels that must have exactly these values"),
    YamlKey(
        "matchExpressions", Form.REQUIREMENTS, "", "further requirements, all of which must hold"
    ),
)

ENTRY_KEYS = (
    *KIND_KEYS,
    YamlKey(
        "playbook",
        Form.TEXT,
        "",
        "playbook to run, relative to the working directory; comes before `role`",
    ),
    YamlKey("role", Form.TEXT, "", "role to run: path, name, or `namespace.collection.role`"),
    YamlKey(
        "vars", Form.MAP, "", "extra variables; they override everything that comes from the object"
    ),
    YamlKey(
        "reconcilePeriod",
        Form.DURATION,
        "0s",
        "run again after this time; zero: `--reconcile-period`",
    ),
    YamlKey(
        "maxRunnerArtifacts", Form.WHOLE, "20", "runs whose artifacts are kept; 0: the default"
    ),
    YamlKey("finalizer", Form.FINALIZER, "", "what runs before an object is removed"),
    YamlKey("selector", Form.SELECTOR, "", "only objects with such labels; absent or empty: all"),
    YamlKey("manageStatus", Form.TRUTH, "true", "write conditions into the object's status"),
    YamlKey(
        "watchDependentResources", Form.TRUTH, "true", "run again when what a play created changes"
    ),
    YamlKey(
        "watchClusterScopedResources",
        Form.TRUTH,
        "false",
        "the same for objects without a namespace",
    ),
    YamlKey(
        "watchAnnotationsChanges",
        Form.TRUTH,
        "false",
        "run again when the object's annotations change",
    ),
    YamlKey(
        "snakeCaseParameters", Form.TRUTH, "true", "turn `specKeys` into `spec_keys` variables"
    ),
    YamlKey(
        "markUnsafe",
        Form.TRUTH,
        "",
        "text from the object is never templated; only an explicit `false` lets Ansible template it",
    ),
    YamlKey("blacklist", Form.KINDS, "", "kinds that plays create and that are not watched"),
    YamlKey(
        "runner",
        Form.TEXT,
        "",
        "how runs start; default: `--runner`",
        is_ours=True,
        choices=("stock", "warm"),
    ),
    YamlKey(
        "runTimeout",
        Form.DURATION,
        "",
        "stop a run after this time; default: `--run-timeout`; zero: no limit",
        is_ours=True,
    ),
    YamlKey(
        "noProgressTimeout",
        Form.DURATION,
        "",
        "end a run that prints nothing for so long; absent: as `--no-progress-timeout`,"
        " zero: no limit",
        is_ours=True,
    ),
    YamlKey(
        "dependentsDelay",
        Form.DURATION,
        "",
        "for so long after a run, changes of what plays created wait, and then bring one run;"
        " absent: as `--dependents-delay`, zero: they never wait",
        is_ours=True,
    ),
    YamlKey(
        "cancelOnDelete",
        Form.TRUTH,
        "false",
        "stop the current run when the object is deleted",
        is_ours=True,
    ),
    YamlKey(
        "cancelOnChange",
        Form.TRUTH,
        "false",
        "stop the current run when the object's spec changes",
        is_ours=True,
    ),
    YamlKey(
        "specOverridesRole",
        Form.TRUTH,
        "false",
        "pass also keys of spec that the CRD does not declare and that override variables, facts or"
        " registered names of the role",
        is_ours=True,
    ),
    YamlKey(
        "readyCondition",
        Form.TRUTH,
        "true",
        "write the `Ready` condition and `status.observedGeneration`",
        is_ours=True,
    ),
    # Accepted by the Go operator too, and read by neither.
    YamlKey(
        "maxWorkers",
        Form.UNUSED,
        "",
        "no effect; use `--max-concurrent-reconciles` or MAX_CONCURRENT_RECONCILES_<KIND>_<GROUP>",
        instead=("--max-concurrent-reconciles", "MAX_CONCURRENT_RECONCILES"),
    ),
    YamlKey(
        "ansibleVerbosity",
        Form.UNUSED,
        "",
        "no effect; use `--ansible-verbosity` or ANSIBLE_VERBOSITY_<KIND>_<GROUP>",
        instead=("--ansible-verbosity", "ANSIBLE_VERBOSITY"),
    ),
)
