"""Whether what a play uses is a function of its input: of actions, modules, filters, tests, lookups.

Promises: only what was read and found to be a function of what it is given, of the project's files and
of the API server is *pure*; whatever is not listed here is *acting*, which is the careful answer: it
may change or ask anything. *Varying* is what changes nothing, and answers otherwise each time.

Names are full ones, as Ansible resolves them. That the plugin behind a name is the genuine one is for
the caller to know: a project may bring a filter called `default`.

Pure with a condition are those that read files: of the project they are inputs, of elsewhere they are
not, and `reads_files` says which they are. Nothing of Ansible is imported.

Rejected: asking authors to declare their roles idempotent. They do, and are wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum


class Nature(Enum):
    """What a use of something means for a run."""

    PURE = "pure"  # the same input, the same answer, and nothing else is changed
    ACTING = "acting"  # changes something outside of the API, or may
    VARYING = "varying"  # another answer each time, or one of the machine


class Used(Enum):
    """What can be used; the values are the words for people."""

    ACTION = "action"
    MODULE = "module"
    FILTER = "filter"
    TEST = "test"
    LOOKUP = "lookup"
    FUNCTION = "function"  # of templates: `now()`


@dataclass(frozen=True, slots=True)
class Purity:
    """The answer about one name, and why, in words that follow the name."""

    nature: Nature
    reason: str = ""  # empty: it is pure
    reads_files: bool = False  # pure as long as they are the project's

    @property
    def is_pure(self) -> bool:
        return self.nature is Nature.PURE


_CORE = "ansible.builtin"
_PURE = Purity(Nature.PURE)
_OF_FILES = Purity(Nature.PURE, reads_files=True)
_UNKNOWN = Purity(Nature.ACTING, "is not known to be pure")


def _acting(reason: str) -> Purity:
    return Purity(Nature.ACTING, reason)


def _varying(reason: str) -> Purity:
    return Purity(Nature.VARYING, reason)


def _core(names: str, purity: Purity) -> dict[str, Purity]:
    return _of(_CORE, names, purity)


def _of(collection: str, names: str, purity: Purity) -> dict[str, Purity]:
    return {f"{collection}.{name}": purity for name in names.split()}


_RUNS_PROGRAM = _acting("runs a program")
_WRITES_FILES = _acting("writes files")
_CHANGES_MACHINE = _acting("changes the machine")
_SPEAKS_HTTP = _acting("sends requests that the engine does not see")
_LOOKS_AT_MACHINE = _varying("looks at the machine")
_LOOKS_AT_FILES = _varying("looks at files of the machine")

# Actions and modules in one table: of most names there is only one, and who runs both judges both.
_TASKS: Mapping[str, Purity] = {
    **_core(
        "add_host assert debug fail group_by import_playbook import_role import_tasks include"
        " include_role include_tasks meta normal ping set_fact set_stats validate_argument_spec",
        _PURE,
    ),
    **_core("include_vars", _OF_FILES),
    **_core("command expect raw script shell git subversion", _RUNS_PROGRAM),
    **_core(
        "assemble blockinfile copy fetch file get_url known_hosts lineinfile replace tempfile template"
        " unarchive",
        _WRITES_FILES,
    ),
    **_core("uri", _SPEAKS_HTTP),
    **_core(
        "apt apt_key apt_repository cron deb822_repository debconf dnf dnf5 dpkg_selections group"
        " hostname iptables package pip reboot rpm_key service systemd systemd_service sysvinit user"
        " yum yum_repository",
        _CHANGES_MACHINE,
    ),
    **_core("gather_facts setup", _varying("gathers facts")),
    **_core("getent mount_facts package_facts service_facts", _LOOKS_AT_MACHINE),
    **_core("find slurp stat", _LOOKS_AT_FILES),
    **_core("async_status", _varying("asks for a job in the background")),
    **_core("pause wait_for wait_for_connection", _varying("waits for something but the API")),
    **_of(
        "kubernetes.core",
        "k8s k8s_cluster_info k8s_info k8s_json_patch k8s_rollback k8s_scale k8s_service",
        _OF_FILES,
    ),
    **_of("kubernetes.core", "k8s_cp k8s_exec", _acting("acts in a container")),
    **_of("kubernetes.core", "k8s_drain", _acting("evicts pods")),
    **_of("kubernetes.core", "k8s_log", _varying("reads the log of a container")),
    **_of(
        "kubernetes.core",
        "helm helm_info helm_plugin helm_plugin_info helm_pull helm_registry_auth helm_repository"
        " helm_template",
        _RUNS_PROGRAM,
    ),
    **_of("operator_sdk.util", "k8s_event k8s_status requeue_after", _PURE),
    **_of("operator_sdk.util", "osdk_metric", _acting("sets a metric")),
    **_of("rolecall.operator", "refuse report report_failure", _PURE),
}

_FILTERS: Mapping[str, Purity] = {
    **_core(
        "abs attr b64decode b64encode basename batch bool capitalize center checksum combinations"
        " combine comment commonpath count d default dict2items dictsort difference dirname e escape"
        " extract filesizeformat first flatten float forceescape format from_json from_yaml"
        " from_yaml_all groupby hash human_readable human_to_bytes indent int intersect items"
        " items2dict join last length list log lower mandatory map max md5 min normpath path_join"
        " permutations pow pprint product quote regex_escape regex_findall regex_replace regex_search"
        " reject rejectattr rekey_on_member relpath replace reverse root round safe select selectattr"
        " sha1 slice sort split splitext string striptags subelements sum symmetric_difference ternary"
        " title to_datetime to_json to_nice_json to_nice_yaml to_uuid to_yaml tojson trim truncate"
        " type_debug union unique unvault upper urldecode urlencode urlize urlsplit win_basename"
        " win_dirname win_splitdrive wordcount wordwrap xmlattr zip zip_longest",
        _PURE,
    ),
    **_core("fileglob", _OF_FILES),
    **_core("random shuffle", _varying("answers by chance")),
    **_core("password_hash vault", _varying("takes a salt by chance")),
    **_core("strftime", _varying("may tell the time")),
    **_core("expanduser expandvars", _varying("reads the environment")),
    **_core("realpath", _LOOKS_AT_FILES),
    **_of("kubernetes.core", "k8s_config_resource_name", _PURE),
    **_of(
        "rolecall.operator",
        "foreign is_ours is_ready quantity why_failed why_not_ready",
        _PURE,
    ),
}

_TESTS: Mapping[str, Purity] = {
    **_core(
        "!= < <= == > >= abs all any boolean callable change changed contains defined divisibleby eq"
        " equalto escaped even failed failure false falsy filter finished float ge greaterthan gt in"
        " integer is_abs isnan issubset issuperset iterable le lessthan lower lt mapping match nan ne"
        " none number odd reachable regex sameas search sequence skip skipped started string subset"
        " succeeded success successful superset test timedout true truthy undefined unreachable upper"
        " uri url urn vault_encrypted version version_compare",
        _PURE,
    ),
    **_core(
        "directory exists file is_dir is_file is_link is_mount is_same_file link link_exists mount"
        " same_file vaulted_file",
        _LOOKS_AT_FILES,
    ),
}

_LOOKUPS: Mapping[str, Purity] = {
    **_core(
        "config dict indexed_items inventory_hostnames items list nested sequence subelements together"
        " varnames vars",
        _PURE,
    ),
    **_core("csvfile file fileglob first_found ini template unvault", _OF_FILES),
    **_core("env", _varying("reads the environment")),
    **_core("lines pipe", _RUNS_PROGRAM),
    **_core("password", _WRITES_FILES),
    **_core("random_choice", _varying("answers by chance")),
    **_core("url", _SPEAKS_HTTP),
    **_of("kubernetes.core", "k8s", _OF_FILES),
    **_of("kubernetes.core", "kustomize", _RUNS_PROGRAM),
}

_FUNCTIONS: Mapping[str, Purity] = {
    **_core("cycler dict joiner lookup namespace omit q query range undef", _PURE),
    **_core("now", _varying("reads the clock")),
    **_core("lipsum", _varying("answers by chance")),
}

_TABLES: Mapping[Used, Mapping[str, Purity]] = {
    Used.ACTION: _TASKS,
    Used.MODULE: _TASKS,
    Used.FILTER: _FILTERS,
    Used.TEST: _TESTS,
    Used.LOOKUP: _LOOKUPS,
    Used.FUNCTION: _FUNCTIONS,
}

# Names that moved, as ansible-core itself still finds them.
_MOVED = {"k8s_facts": "k8s_info", "k8s_raw": "k8s"}
_OLD_COLLECTIONS = ("community.kubernetes", "community.okd")


# Arguments by which a module or lookup of kubernetes.core leaves the way through the proxy.
_ELSEWHERE = frozenset(
    {
        "api_key",
        "client_cert",
        "client_key",
        "context",
        "host",
        "kubeconfig",
        "password",
        "proxy",
        "username",
    }
)


# Variables of a template that tell of its file.
FILE_VARIABLES = ("template_run_date", "template_mtime", "template_uid", "ansible_managed")


def is_counted(name: str) -> bool:
    """Whether a file or folder of a project is an input by this name: all that globs and plays find.

    Left out is what Python leaves, and what is hidden; but `include_vars` takes hidden files, too.
    """
    is_hidden = name.startswith(".") and not name.endswith((".yml", ".yaml", ".json"))
    return not is_hidden and name != "__pycache__"


def asks_elsewhere(arguments: Iterable[str]) -> str:
    """The argument by which a Kubernetes module may ask another API server; empty: none."""
    return min(_ELSEWHERE.intersection(arguments), default="")


def full_name(name: str) -> str:
    """The name with its collection, where the project brings no plugin of that short name."""
    collection, _, short = name.rpartition(".")
    if collection in ("", "ansible.legacy", _CORE):
        moved = _MOVED.get(short, short)
        return f"kubernetes.core.{moved}" if moved.startswith("k8s") else f"{_CORE}.{short}"
    if collection in _OLD_COLLECTIONS:
        return f"kubernetes.core.{_MOVED.get(short, short)}"
    return name


def purity_of(used: Used, name: str) -> Purity:
    """What the use of this name means; short names are those of ansible-core."""
    return _TABLES[used].get(full_name(name), _UNKNOWN)
