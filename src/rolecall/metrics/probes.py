"""What `/healthz` and `/readyz` answer: named checks, in the words of every Kubernetes component.

A check is asked at each request and says what is wrong, or nothing. The reasons are shown: they name
kinds and parts of the engine, which every client that may probe may know, and a probe that says only
"failed" does not help.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

# Empty text: fine. Anything else: what is wrong, in one line.
ProbeCheck = Callable[[], str]


class Probe:
    """One endpoint and its checks; `notes` are such as never fail, but have something to say."""

    def __init__(
        self,
        name: str,
        checks: Mapping[str, ProbeCheck],
        notes: Mapping[str, ProbeCheck] | None = None,
    ) -> None:
        self.name = name
        self._notes = dict(notes or {})
        self._checks = {**checks}
        for each in self._notes:
            self._checks.setdefault(each, _nothing_wrong)

    def ask_all(self, *, exclude: Sequence[str] = (), verbose: bool = False) -> tuple[int, str]:
        """HTTP code and text for all checks but the excluded ones."""
        lines: list[str] = []
        is_well = True
        for name, check in self._checks.items():
            if name in exclude:
                lines.append(f"[+]{name} excluded: ok")
            elif wrong := check():
                is_well = False
                lines.append(f"[-]{name} failed: {wrong}")
            else:
                lines.append(f"[+]{name} ok{self._note(name)}")
        strange = [name for name in exclude if name not in self._checks]
        if strange:
            named = ", ".join(f'"{name}"' for name in strange)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {named}")
        if not is_well:
            return 500, "\n".join([*lines, f"{self.name} check failed", ""])
        return 200, "\n".join([*lines, f"{self.name} check passed", ""]) if verbose else "ok"

    def ask_one(self, name: str) -> tuple[int, str]:
        """HTTP code and text for one check."""
        check = self._checks.get(name)
        if check is None:
            return 404, f"{self.name} has no check `{name}`\n"
        wrong = check()
        return (500, f"{name} failed: {wrong}\n") if wrong else (200, f"ok{self._note(name)}")

    def _note(self, name: str) -> str:
        said = self._notes[name]() if name in self._notes else ""
        return f": {said}" if said else ""


def _nothing_wrong() -> str:
    return ""
