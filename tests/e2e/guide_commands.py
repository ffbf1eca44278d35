"""Which commands of a guide are not simply run until they end well: how they are, or why not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MENTION = "names a program, and is not meant to be typed like this"
IMAGES = "builds an image, or needs a registry"
NEEDS_OLM = "needs a cluster with OLM, or objects that OLM makes"
BLANK = "has a place for the reader's own words"
REAL_NODES = "a test on real nodes runs it, whose pods can go; simulated ones may take minutes"
ELSEWHERE = "another guide has it, and its test runs it"
FINDINGS = (0, 1)


@dataclass(frozen=True)
class Guide:
    """Whatever is not named here is run, and must end with 0."""

    # Why it is not run.
    not_run: Mapping[str, str] = field(default_factory=dict)
    # These stay in the foreground. An engine goes on until the next one; what shows something, or
    # writes a file, is interrupted when that was seen.
    engines: tuple[str, ...] = ()
    follows: Mapping[str, str] = field(default_factory=dict)
    records: Mapping[str, str] = field(default_factory=dict)
    # Repeated until it prints this.
    shows: Mapping[str, str] = field(default_factory=dict)
    # Ends with another code, too: it is an answer.
    codes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def named(self) -> set[str]:
        return {
            *self.not_run,
            *self.engines,
            *self.follows,
            *self.records,
            *self.shows,
            *self.codes,
        }


# Guides of which nothing is run here.
NO_GUIDES = {
    "image": IMAGES,
    "prove-it": "takes minutes: SEEDED=1 and tests/e2e/proving run what it describes",
    "real-nodes": "needs nodes that run containers: tests/real",
    "alerts": "says what to do once an alert called: tests/unit/bundle/test_alerts.py holds it to them",
    "admission": "tests/e2e/test_admission.py runs its example",
    "extensions": "tests/e2e/test_extension_example.py installs its example",
    "handlers": "tests/e2e/test_handlers.py runs its example",
    "blame": "tests/e2e/features/test_blame.py runs its commands",
    "doctor": "tests/apiserver/doctor and tests/e2e/test_doctor.py run it",
    "go-differences": "has no commands",
    "metrics": "has no commands",
    "observe": "has no commands: tests/e2e/features/test_observe.py runs what it describes",
    "prune": "tests/e2e/features/test_preview_guide.py runs its example",
    "skip-unchanged": "has no commands: tests/e2e/features/test_skip.py runs what it describes",
    "watch-reads": "tests/e2e/features/test_preview_guide.py runs its example",
    "report": "has no commands: tests/play/test_report.py runs what it describes",
    "versions": "tests/unit/scaffold, tests/unit/checks and tests/apiserver/migration take its steps",
    "usage-and-traces": "tests/e2e/features/test_usage.py and test_traces.py run what it describes",
    "testing": "tests/e2e/test_pytest_plugin.py runs its example",
    "page": "tests/browser, tests/e2e/page and tests/real/test_page.py do what it describes",
    "replicas": "tests/apiserver/deploy, test_shards.py and shards/ of this tier do what it describes",
    "when-it-breaks": "tests/e2e/test_breakages.py writes it",
}

_OF_IMAGES = [
    f"{command}{version}"
    for version in ("0.1.0", "0.2.0")
    for command in (
        "make bundle-image VERSION=",
        "docker push registry.example.com/rolecall-bundle:v",
        "make catalog-image VERSION=",
        "docker push registry.example.com/rolecall-catalog:v",
    )
]

GUIDES = {
    "new-operator": Guide(
        not_run={
            "pip install 'rolecall[dev]'": "needs a registry",
            "operator-sdk init": MENTION,
            "operator-sdk create api": MENTION,
            "make collections": (
                "no registry can be reached everywhere; set-up brought its collections"
            ),
            "rolecall demo": "runs with --once",
            "make test": "tests/molecule/test_sequences.py runs it",
        },
        engines=("make run",),
        records={"rolecall run --proxy-record asked": "asked"},
        shows={
            "rolecall cluster kubectl --name memcached-operator get memcacheds": (
                "memcached-sample +True"
            )
        },
    ),
    "local-cluster": Guide(
        not_run={"rolecall cluster up --assets DIR": BLANK},
        follows={"rolecall cluster logs kube-apiserver --follow": "apiserver"},
        shows={"kubectl get nodes": r"\bReady\b"},
    ),
    "try-a-role": Guide(
        not_run={
            "rolecall run-role": MENTION,
            "rolecall run --adopt": MENTION,
            "rolecall run": ELSEWHERE,
            "make run": ELSEWHERE,
        },
        engines=("rolecall run --dev",),
    ),
    "preview-and-drift": Guide(
        not_run={
            "rolecall plan": MENTION,
            "kubectl diff": MENTION,
            "kubectl wait": MENTION,
            **dict.fromkeys(
                (
                    "rolecall plan KIND/NAME",
                    "rolecall plan --cr FILE",
                    "rolecall plan --all --project DIR",
                    "rolecall plan --finalizer KIND/NAME",
                ),
                BLANK,
            ),
        },
        codes={
            "rolecall plan --cr config/samples/demovolume.yaml": (1,),
            "rolecall plan --all -o json": FINDINGS,
            "rolecall plan --all": FINDINGS,
        },
    ),
    "operate": Guide(
        not_run={
            "kubectl exec": MENTION,
            'kubectl get --raw "/api/v1/namespaces/NS/pods/POD:6789/proxy/readyz?verbose"': BLANK,
            "rolecall blame deployment shop .spec.replicas -n shops": (
                "tests/e2e/features/test_blame.py runs it"
            ),
            "rolecall top": "tests/e2e/test_top.py presses its keys",
            "pip install 'rolecall-dev[top]'": "needs a registry",
        },
        engines=("rolecall run",),
        follows={
            "rolecall status -w": "shop",
            "rolecall logs -f website/shop": "TASK",
        },
        shows={
            "rolecall status website/shop -n shops": "no such disk",
            "rolecall runs website/shop": "failed",
            "rolecall logs --failed website/shop": "no such disk",
        },
    ),
    "logs": Guide(not_run={"kubectl logs": MENTION}),
    "migrate": Guide(
        not_run={
            "ansible-operator run": "belongs to the Go operator",
            "rolecall run": ELSEWHERE,
            "make image ANSIBLE_CORE=2.18": IMAGES,
            "make setup ANSIBLE_CORE=2.18": "needs a registry, and replaces what the tests run with",
        },
    ),
    "deploy": Guide(
        not_run={
            "make deploy": "runs above, with IMG",
            "make undeploy": REAL_NODES,
        }
    ),
    "olm": Guide(
        not_run={
            **dict.fromkeys(_OF_IMAGES, IMAGES),
            "make test-apiserver": "a tier of these tests",
            "operator-sdk bundle validate": MENTION,
            "opm validate": MENTION,
            **dict.fromkeys(("make deploy", "rolecall run"), ELSEWHERE),
            "make undeploy": REAL_NODES,
            "kubectl apply -f olm.yaml": NEEDS_OLM,
            "kubectl delete subscription,csv --all -n rolecall": NEEDS_OLM,
            "kubectl delete crd NAME": BLANK,
            "kubectl delete lease rolecall -n rolecall": NEEDS_OLM,
            "kubectl delete pvc NAME": BLANK,
            "kubectl delete operator NAME": NEEDS_OLM,
        },
        codes={"rolecall doctor --uninstall": FINDINGS},
    ),
}
