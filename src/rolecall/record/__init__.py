"""What a run read and wrote, request by request, and which task did it.

Extensions ask a run for its `RunRecord`, or while it is in flight for its `RequestsSoFar`; both are
there where an extension publishes them.
"""

from rolecall.record.answers import (
    MOST_BYTES,
    IsOwned,
    ReadProtobuf,
    SeenAnswer,
    digest_of_items,
    seen_in,
)
from rolecall.record.file import RECORD_FILE, read_record, record_json, write_record
from rolecall.record.leaves import (
    MOST_LEAVES,
    element_steps,
    key_step,
    leaves_of_object,
    leaves_of_write,
    parsed_body,
    patch_type_of,
    steps_of_path,
)
from rolecall.record.model import (
    NO_TASK,
    RecordedRequest,
    RecordedTask,
    RequestsSoFar,
    RunRecord,
    TaskId,
)
from rolecall.record.objects import ObjectPlace, ObjectRead, ObjectsOfRun, objects_of
from rolecall.record.phases import Phase, axis_of, phases_of
from rolecall.record.selectors import SelectorError, meets_selector, names_of_fields, selects
from rolecall.record.touched import ObjectId, TouchedByRun, TouchedObject, id_of, touched_by

__all__ = [
    "MOST_BYTES",
    "MOST_LEAVES",
    "NO_TASK",
    "RECORD_FILE",
    "IsOwned",
    "ObjectId",
    "ObjectPlace",
    "ObjectRead",
    "ObjectsOfRun",
    "Phase",
    "ReadProtobuf",
    "RecordedRequest",
    "RecordedTask",
    "RequestsSoFar",
    "RunRecord",
    "SeenAnswer",
    "SelectorError",
    "TaskId",
    "TouchedByRun",
    "TouchedObject",
    "axis_of",
    "digest_of_items",
    "element_steps",
    "id_of",
    "key_step",
    "leaves_of_object",
    "leaves_of_write",
    "meets_selector",
    "names_of_fields",
    "objects_of",
    "parsed_body",
    "patch_type_of",
    "phases_of",
    "read_record",
    "record_json",
    "seen_in",
    "selects",
    "steps_of_path",
    "touched_by",
    "write_record",
]
