"""Handlers of <<kind>>, with kopf (https://docs.kopf.dev); the operator runs them beside its role."""

import kopf


# Called every 10 seconds for each <<kind>>; others are kopf.daemon, kopf.on.field, kopf.on.event ...
@kopf.timer("<<resource>>", interval=10)
async def check(meta, patch, **_):
    """Replace this by what a play cannot do well, such as asking a URL of `spec` each time."""
    # Any field of status that the CRD has, except `conditions`, which are the operator's.
    # What you import beside kopf goes into requirements.txt.
    patch.status["<<field>>"] = meta["generation"]
