"""Which engine a command is answered by: one of this machine, or the one in a cluster.

The kubeconfig says which cluster is meant. An engine of this machine that works on it answers; else the
operator's pod in that cluster runs the same command. Where there is neither, the artifacts that engines
of that cluster left on this machine still show their runs. A folder that was named with
`--artifacts-dir` is the choice of an engine as well, but nothing acts on a cluster that the kubeconfig
does not name.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rolecall.cli.kind_words import (
    CrWord,
    KindWords,
    choose_cr,
    choose_kind,
    group_of,
    kinds_of,
    unknown_kind,
)
from rolecall.cli.terminal import RELAYED_VARIABLE, say
from rolecall.errors import InputError, RolecallError
from rolecall.history import KeptCr, KeptRun, kept_crs, roots_of, with_id
from rolecall.json_object import Json
from rolecall.local_engine import LocalEngine, engines_of
from rolecall.plain_text import plain
from rolecall.settings import ENGINE_FLAGS

_FoundEngine = tuple[LocalEngine, Json]  # with its state
_Found = Sequence[_FoundEngine]
_Environ = Mapping[str, str]
_ARTIFACTS = ENGINE_FLAGS["artifacts-dir"]
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class NoEngineError(RolecallError):
    """What was asked needs an engine, and none runs."""


def add_place(parser: argparse.ArgumentParser) -> None:
    """The flags by which a person says which engine is meant."""
    section = parser.add_argument_group("which engine")
    section.add_argument(
        "--artifacts-dir",
        metavar="PATH",
        help="the folder of runs of an engine of this machine: that folder alone (default: that of"
        f" the engine for the cluster of your kubeconfig, in {_ARTIFACTS.default})",
    )
    section.add_argument(
        "--operator",
        metavar="NAMESPACE/NAME",
        help="the operator in the cluster of your kubeconfig, if there are several",
    )


def add_output(parser: argparse.ArgumentParser, place: str = "namespace of the CR") -> None:
    """How the answer is printed, and with `place` as help: in which namespace the CR is."""
    parser.add_argument("-n", "--namespace", metavar="NS", default="", help=place)
    parser.add_argument(
        "-o", "--output", choices=("text", "json"), default="text", help="default: text"
    )


@dataclass(frozen=True, slots=True)
class Here:
    """This machine: its engine, if one runs, and the folders of runs."""

    roots: Sequence[Path]
    engine: LocalEngine | None = None
    state: Json | None = None
    server: str | None = None  # whose runs count; None: those on all clusters
    dividing: _Found = ()  # more than one: they share the folder, and divide the CRs among them

    def running(self) -> LocalEngine:
        """The engine; raises `NoEngineError`."""
        if self.engine is None:
            raise NoEngineError(
                f"no operator runs on this machine (looked in `{self.roots[0]}`), and none was found"
                " in a cluster",
                hint="start one with `rolecall run`, or name one with --artifacts-dir or --operator",
            )
        return self.engine

    def check_cluster(self) -> None:
        """Raises `InputError` where the engine works on another cluster than the kubeconfig names."""
        if self.state is None:
            return
        meant, server = _meant_server(os.environ), server_of(self.state)
        if meant in (None, server):
            return
        raise InputError(
            f"the engine in `{self.roots[0]}` works on {server}, and your kubeconfig names {meant}",
            hint="set KUBECONFIG to the file of the cluster that you mean",
        )

    def to_ask_for(self, cr: Json) -> LocalEngine:
        """Of engines that divide the CRs, the one that has this one, if it is here, to act on it."""
        self.check_cluster()
        having = [engine for engine, state in self.dividing if is_had_by(state, cr)]
        return having[0] if having else self.running()

    def engine_of_handlers(self, place: Json) -> LocalEngine:
        """Of engines that divide the CRs, the one whose handlers act for the CR at this place."""
        for engine, state in self.dividing:
            if any(place.items() <= cr.items() and cr.get("handlers") for cr in state["crs"]):
                return engine
        return self.running()

    def all_to_ask(self) -> Sequence[LocalEngine]:
        """Those that have all CRs between them, to act on them; raises `NoEngineError`."""
        self.check_cluster()
        return [engine for engine, _ in self.dividing] or [self.running()]

    def kept(self, kind: KindWords | None = None, name: str = "") -> list[KeptCr]:
        """The CRs of which runs are kept here."""
        word = kind.kind if kind else ""
        found = [
            each for root in self.roots for each in kept_crs(root, word, name, server=self.server)
        ]
        return [each for each in found if kind is None or kind.group == group_of(each.api_version)]

    def crs(self) -> list[Json]:
        """Those that the engine knows; without one, those that left runs."""
        if self.state is not None:
            return list(self.state["crs"])
        return _by_place(self.kept())

    def kind(self, word: str) -> KindWords:
        """The kind that is meant; raises `InputError` with the nearest."""
        watches = [] if self.state is None else self.state["engine"]["watches"]
        known = kinds_of(watches) or kinds_of(self.crs())
        found = choose_kind(word, known) or _by_short_name(word, known)
        if found is None:
            raise unknown_kind(word, known)
        return found

    def cr(self, word: CrWord, namespace: str) -> Json:
        """The CR that is meant, deleted ones whose runs are kept included."""
        kind = self.kind(word.kind)
        live = [each for each in self.crs() if kind.is_of(each)]
        known = {(each["namespace"], each["name"]) for each in live}
        kept = [
            each
            for each in _by_place(self.kept(kind, word.name))
            if (each["namespace"], each["name"]) not in known
        ]
        cr = choose_cr(word, namespace, [*live, *kept])
        if not self._is_here(cr):
            say(plain(f"{who_has(cr)}; here are only runs from before"))
        return cr

    def _is_here(self, cr: Json) -> bool:
        """Whether an engine that was found works on it."""
        if cr.get("shard") is None or self.state is None:
            return True
        return is_had_by(self.state, cr) or any(is_had_by(state, cr) for _, state in self.dividing)

    def runs(self, cr: Json, most: int | None = None) -> list[KeptRun]:
        """Its runs that are kept, newest first."""
        place = (cr["api_version"], cr["namespace"])
        found = [
            run
            for root in self.roots
            for each in kept_crs(root, cr["kind"], cr["name"], cr["namespace"], self.server)
            if (each.api_version, each.namespace) == place
            for run in each.runs(most)
        ]
        return sorted(found, key=lambda run: run.began or _LONG_AGO, reverse=True)


def local_place(arguments: argparse.Namespace, environ: _Environ) -> Here | None:
    """This machine, where it is meant; None: ask in the cluster (see `relay_command`)."""
    if arguments.operator:
        if arguments.artifacts_dir:
            raise InputError("only one of `--artifacts-dir` and `--operator` may be set")
        return None
    if arguments.artifacts_dir:
        places, meant = [Path(arguments.artifacts_dir)], None
        found = _at_work(engines_of(places))
    else:
        places, meant = _places(environ), _meant_server(environ)
        all_here = engines_of(places)
        found = _at_work(_of_cluster(all_here, meant))
        if all_here and not found:
            say(f"engines of this machine work on other clusters: {_named(all_here)}")
    if len({engine.root for engine, _ in found}) > 1:
        raise InputError(
            f"several operators run here: {_named(found)}",
            hint="set KUBECONFIG to the file of the cluster that you mean, or choose a folder with"
            " --artifacts-dir",
        )
    if found:
        _introduce(found, environ)
        return _here_of(found)
    is_meant = arguments.artifacts_dir or RELAYED_VARIABLE in environ
    return Here(places) if is_meant else None


def silent_place(environ: _Environ) -> Here:
    """This machine, chosen without a message about the choice."""
    places, meant = _places(environ), _meant_server(environ)
    found = _at_work(_of_cluster(engines_of(places), meant))
    is_clear = len({engine.root for engine, _ in found}) == 1
    return _here_of(found) if is_clear else Here(places, server=meant)


def with_local_cluster(environ: _Environ) -> _Environ:
    """The environment; where it names no cluster, that of this machine's engine, if only one runs."""
    if RELAYED_VARIABLE in environ or _meant_server(environ) is not None:
        return environ
    engines = [state["engine"] for _, state in engines_of(_places(environ))]
    found = {str(engine.get("kubeconfig") or "") for engine in engines}
    return (
        {**environ, "KUBECONFIG": found.pop()} if len(found) == 1 and "" not in found else environ
    )


def engines_here(environ: _Environ) -> str:
    """The engines of this machine by folder and cluster, for a person; empty: there is none."""
    return _named(engines_of(_places(environ)))


def server_of(state: Json) -> str:
    """The API server of the engine."""
    return str(state["engine"].get("server") or "")


def _meant_server(environ: _Environ) -> str | None:
    """That of the kubeconfig's current context; None: no cluster is named, or this is its pod."""
    if RELAYED_VARIABLE in environ:
        return None
    from rolecall.kube import Credentials, NoClusterNamedError  # noqa: PLC0415 - as below

    try:
        return str(Credentials.load(environ).server)
    except NoClusterNamedError:
        return None


def _of_cluster(found: _Found, meant: str | None) -> _Found:
    return [each for each in found if meant in (None, server_of(each[1]))]


def _named(found: _Found) -> str:
    named = {engine.root: server_of(state) for engine, state in found}
    return ", ".join(f"`{root}` on {server}" for root, server in named.items())


def _here_of(found: _Found) -> Here:
    engine, state = found[0]
    server = server_of(state)
    if len(found) == 1:
        return Here([engine.root], engine, state, server)
    merged = merged_state([each for _, each in found])
    return Here([engine.root], engine, merged, server, found)


def _places(environ: _Environ) -> list[Path]:
    """The folders of runs where engines keep them, one for each cluster."""
    return roots_of(Path(environ.get(_ARTIFACTS.variable) or _ARTIFACTS.default))


def _at_work(found: _Found) -> _Found:
    """Of replicas that share a folder, the one that leads, or all that divide the CRs."""
    if len({engine.root for engine, _ in found}) != 1:
        return found
    leading = [each for each in found if each[1]["engine"].get("leads")]
    dividing = [each for each in leading if each[1]["engine"].get("shards")]
    return sorted(dividing, key=_replica) or leading[:1] or found[:1]


def _replica(each: _FoundEngine) -> str:
    return str(each[1]["engine"]["shards"]["replica"])


def place_or_relay(
    arguments: argparse.Namespace,
    words: Sequence[str] | None = None,
    take: Callable[[bytes], object] | None = None,
) -> Here | int:
    """Where the command is answered here; or its exit code, where a pod answered it.

    `words`: what the pod is asked instead of what was typed. `take` gets the output, which else is
    printed.
    """
    here = local_place(arguments, os.environ)
    if here is None:
        from rolecall.cli.relay import relay_command  # noqa: PLC0415 - brings what speaks to clusters

        code = relay_command(arguments, os.environ, words, take)
        if code is not None:
            return code
        here = Here(_places(os.environ), server=_meant_server(os.environ))
    _say_without_engine(here)
    return here


def place_or_gather(
    arguments: argparse.Namespace,
    words: Sequence[str] | None = None,
    *,
    also_of_one: bool = False,
) -> Here | list[Json] | int:
    """As `place_or_relay`; of several pods that divide the CRs, the JSON that each of them prints.

    `words`: what they are asked for that, instead of what was typed. `also_of_one`: of one pod that has
    all CRs as well.
    """
    here = local_place(arguments, os.environ)
    if here is None:
        from rolecall.cli.relay import gather  # noqa: PLC0415 - as above

        found = gather(arguments, os.environ, words, also_of_one=also_of_one)
        if found is not None:
            return found
        here = Here(_places(os.environ), server=_meant_server(os.environ))
    _say_without_engine(here)
    return here


def _say_without_engine(here: Here) -> None:
    if here.engine is None:
        say(f"no operator answers in `{here.roots[0]}`; this is from the files of its runs")


def _introduce(found: _Found, environ: _Environ) -> None:
    if RELAYED_VARIABLE in environ:
        return
    engines = [state["engine"] for _, state in found]
    pids = ", ".join(str(engine.get("pid")) for engine in engines)
    if len(engines) > 1:
        who = f"{len(engines)} engines of this machine (processes {pids})"
    else:
        who = f"engine of this machine (process {pids})"
    say(f"{who} {_role(engines)}, cluster {engines[0].get('server')}")


def _role(engines: Sequence[Json]) -> str:
    if shards := engines[0].get("shards"):
        held = sum(engine["shards"]["held"] for engine in engines)
        return f"{'has' if len(engines) == 1 else 'have'} {held} of {shards['count']} shards"
    return "leads" if engines[0].get("leads") else "does not lead"


def _by_short_name(word: str, known: Sequence[KindWords]) -> KindWords | None:
    """Resolve a short name, which only the API server knows; None where it does not answer."""
    from rolecall.cli.cluster import kinds_served  # noqa: PLC0415 - as above

    watched = {(each.kind, each.group) for each in known}
    if not watched:
        return None
    served = [each for each in kinds_served(os.environ) if (each.kind, each.group) in watched]
    return choose_kind(word, served)


def _by_place(kept: Iterable[KeptCr]) -> list[Json]:
    """Each CR once, by its newest run: a cluster's engines may have had two folders."""
    found: dict[tuple[str, ...], Json] = {}
    for each in kept:
        cr = _from_kept(each)
        place = (each.api_version, each.kind, each.namespace, each.name)
        if place not in found or _ended(cr) > _ended(found[place]):
            found[place] = cr
    return list(found.values())


def _ended(cr: Json) -> str:
    return str((cr["last"] or {}).get("ended") or "")


def _from_kept(kept: KeptCr) -> Json:
    """A CR as its last run recorded it; shaped like those of the engine's state."""
    runs = kept.runs(1)
    facts = runs[0].as_json() if runs else {}
    shown = ("run", "outcome", "reason", "ended", "seconds")
    failed = facts.get("failed_task") or {}
    last = {key: facts[key] for key in shown} if facts else None
    if last is not None:
        at = {"task": failed.get("name", ""), "place": failed.get("place", "")}
        last |= {**at, "finalizer": facts["is_finalizer"]}
    return {
        "kind": kept.kind,
        "api_version": kept.api_version,
        "namespace": kept.namespace,
        "name": kept.name,
        "generation": facts.get("generation"),
        "state": "unknown",
        "last": last,
    }


def merged_state(states: Sequence[Json]) -> Json:
    """What replicas that divide the CRs say, put together: of each CR, what the one says that has it.

    They are asked one after the other, so a shard may change hands in between; then two say that they
    have a CR, and the last one counts, or none says it, and what any of them says is shown as unknown.
    """
    crs: dict[tuple[str, ...], Json] = {}
    handlers: dict[tuple[str, ...], Json] = {}  # those of all CRs run in one replica
    for state in states:
        for cr in state["crs"]:
            place = _place_of(cr)
            if place not in crs or is_had_by(state, cr):
                crs[place] = cr
            if cr.get("handlers"):
                handlers[place] = {"handlers": cr["handlers"]}
    engines = [state["engine"] for state in states]
    shards = {
        "count": engines[0]["shards"]["count"],
        "held": sum(engine["shards"]["held"] for engine in engines),
        "replica": "",
        "replicas": [engine["shards"]["replica"] for engine in engines],
    }
    merged = [{**cr, **handlers.get(place, {})} for place, cr in crs.items()]
    return {"engine": {**engines[0], "shards": shards}, "crs": merged}


def is_had_by(state: Json, cr: Json) -> bool:
    """Whether the replica that says this works on the CR."""
    shards = (state.get("engine") or {}).get("shards")
    if not shards:
        return True
    return bool(cr.get("replica")) and cr["replica"] == shards["replica"]


def who_has(cr: Json) -> str:
    """Which replica has a CR, in words."""
    replica, shard = cr.get("replica"), cr["shard"]
    return (
        f"`{replica}` has its shard, {shard}"
        if replica
        else f"its shard, {shard}, has no holder now"
    )


def _place_of(cr: Json) -> tuple[str, ...]:
    return (cr["api_version"], cr["kind"], cr["namespace"], cr["name"])


def run_called(runs: Sequence[KeptRun], run_id: str, word: CrWord) -> KeptRun:
    """The run of this id, or that begins so; raises `InputError` where none or several do."""
    found = with_id(runs, run_id)
    if len(found) > 1:
        named = ", ".join(f"`{each.run}`" for each in found[:5])
        raise InputError(f"several runs of `{word}` begin with `{run_id}`: {named}")
    if not found:
        hint = f"`rolecall runs {word}` lists those that are kept"
        raise InputError(f"no run `{run_id}` of `{word}` is kept", hint=hint)
    return found[0]
