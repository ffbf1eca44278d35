"""The roles of the seeded worlds: which tasks each has, what they ask the API server for, how long they
take. A run of a world is one of these roles, played with random numbers of the world's seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.gvk import Gvk

GROUP = "demo.example.com"


@dataclass(frozen=True, slots=True)
class RoleTask:
    """`makes`: the kind of the object that it ensures; `polls`: how often it asks, as it waits;
    `called`: what is behind the CR's name in that of the object, where it is not as usual.
    """

    name: str
    action: str
    share: float  # of the run's duration
    makes: str = ""
    polls: int = 0
    is_refused_once: bool = False  # answered with 409 first
    called: str = ""


@dataclass(frozen=True, slots=True)
class SeededRole:
    """What runs for a kind."""

    kind: str
    seconds: float  # of a usual run
    tasks: Sequence[RoleTask]

    @property
    def gvk(self) -> Gvk:
        return Gvk(GROUP, "v1", self.kind)

    @property
    def plural(self) -> str:
        return f"{self.kind.lower()}s"

    def place(self, number: int) -> str:
        """Of its task with this number."""
        return f"roles/{self.kind.lower()}/tasks/main.yml:{2 + 9 * number}"


_K8S, _INFO = "kubernetes.core.k8s", "kubernetes.core.k8s_info"
_FACT, _STATUS, _URI = (
    "ansible.builtin.set_fact",
    "kubernetes.core.k8s_status",
    "ansible.builtin.uri",
)

WEBSITE = SeededRole(
    "Website",
    12.0,
    (
        RoleTask("Merge the settings", _FACT, 0.01),
        RoleTask("Configure the web server", _K8S, 0.08, "ConfigMap"),
        RoleTask("Deploy the web server", _K8S, 0.12, "Deployment", is_refused_once=True),
        RoleTask("Expose the web server", _K8S, 0.07, "Service"),
        RoleTask("Wait until its pods are ready", _INFO, 0.64, "Deployment", polls=5),
        RoleTask("Report the address", _STATUS, 0.08),
    ),
)
DATABASE = SeededRole(
    "Database",
    21.0,
    (
        RoleTask("Choose a version", _FACT, 0.01),
        RoleTask("Create the password", _K8S, 0.05, "Secret"),
        RoleTask("Configure the server", _K8S, 0.05, "ConfigMap"),
        RoleTask("Run the database", _K8S, 0.1, "StatefulSet"),
        RoleTask("Migrate the schema", _K8S, 0.09, "Job"),
        RoleTask("Wait for the migration", _INFO, 0.65, "Job", polls=8),
        RoleTask("Report the version", _STATUS, 0.05),
    ),
)
CERTIFICATE = SeededRole(
    "Certificate",
    4.0,
    (
        RoleTask("Read the account", _INFO, 0.1, "Secret"),
        RoleTask("Order at the issuer", _URI, 0.7),
        RoleTask("Store the certificate", _K8S, 0.2, "Secret"),
    ),
)
CACHE = SeededRole(
    "Cache",
    3.0,
    (
        RoleTask("Configure the cache", _K8S, 0.3, "ConfigMap"),
        RoleTask("Run the cache", _K8S, 0.4, "Deployment"),
        RoleTask("Expose the cache", _K8S, 0.3, "Service"),
    ),
)
BACKUP = SeededRole(
    "Backup",
    55.0,
    (
        RoleTask("Find the volume", _INFO, 0.02, "ConfigMap"),
        RoleTask("Start the copy", _K8S, 0.03, "Job"),
        RoleTask("Wait for the copy", _INFO, 0.9, "Job", polls=12),
        RoleTask("Delete old copies", _K8S, 0.05, "Job"),
    ),
)
ROLES = (WEBSITE, DATABASE, CERTIFICATE, CACHE, BACKUP)
# Of an earlier release of each role: what it made is an orphan.
OLD_TASK = RoleTask("Add the old routes", _K8S, 0.05, "ConfigMap", called="-old-routes")
