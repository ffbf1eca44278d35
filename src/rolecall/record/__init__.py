"""What a run read and wrote, request by request, and which task did it."""

from rolecall.record.answers import MOST_BYTES, SeenAnswer, digest_of_items, seen_in
from rolecall.record.file import RECORD_FILE, read_record, record_json, write_record
from rolecall.record.leaves import (
    MOST_LEAVES,
    element_steps,
    key_step,
    leaves_of_object,
    leaves_of_write,
    steps_of_path,
)
from rolecall.record.model import (
    NO_TASK,
    RecordedRequest,
    RecordedTask,
    RunRecord,
    TaskId,
)
from rolecall.record.notes import MOST_REQUESTS, RequestNote, RunNotes
from rolecall.record.objects import ObjectPlace, ObjectRead, ObjectsOfRun, objects_of
from rolecall.record.phases import Phase, axis_of, phases_of
from rolecall.record.selectors import SelectorError, meets_selector, selects
from rolecall.record.touched import ObjectId, TouchedByRun, TouchedObject, id_of, touched_by

__all__ = [
    "MOST_BYTES",
    "MOST_LEAVES",
    "MOST_REQUESTS",
    "NO_TASK",
    "RECORD_FILE",
    "ObjectId",
    "ObjectPlace",
    "ObjectRead",
    "ObjectsOfRun",
    "Phase",
    "RecordedRequest",
    "RecordedTask",
    "RequestNote",
    "RunNotes",
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
    "objects_of",
    "phases_of",
    "read_record",
    "record_json",
    "seen_in",
    "selects",
    "steps_of_path",
    "touched_by",
    "write_record",
]
