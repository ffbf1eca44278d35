"""Each module is one way in: what comes, and what must hold of it."""

from tests.unit.hostile.entries.bodies import BODIES
from tests.unit.hostile.entries.cr_metadata import CR_METADATA
from tests.unit.hostile.entries.crs import CRS
from tests.unit.hostile.entries.kubeconfigs import KUBECONFIGS
from tests.unit.hostile.entries.play_output import PLAY_OUTPUT
from tests.unit.hostile.entries.raw_requests import RAW_REQUESTS
from tests.unit.hostile.entries.request_paths import REQUEST_PATHS
from tests.unit.hostile.entries.watches_files import WATCHES

ENTRY_POINTS = {
    entry.name: entry
    for entry in (
        WATCHES,
        KUBECONFIGS,
        CRS,
        CR_METADATA,
        PLAY_OUTPUT,
        REQUEST_PATHS,
        RAW_REQUESTS,
        BODIES,
    )
}

__all__ = ["ENTRY_POINTS"]
