"""Whether the cluster serves the kinds that watches.yaml names."""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.kube import NoSuchKindError
from rolecall_dev.doctor.diagnosis import Diagnosis, done, not_looked, to_do
from rolecall_dev.doctor.surroundings import Surroundings


async def look_at_kinds(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for all that are there, and one for each that is not."""
    client = (await surroundings.needed_cluster()).client
    if not surroundings.watches:
        return [not_looked("no kinds are known")]
    seen = []
    for watch in surroundings.watches:
        try:
            await client.resource_for(watch.gvk)
        except NoSuchKindError:
            seen.append(
                to_do(
                    f"{watch.gvk.kind} ({watch.gvk.api_version}) is not served by the cluster",
                    "install its CRD, such as with `make install`; the operator waits for it",
                )
            )
    return seen or [done(f"all {len(surroundings.watches)} are served")]
