"""What a proof came to, as its process reports it to the engine."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from rolecall.json_object import Json


@dataclass(frozen=True, slots=True)
class ProofVerdict:
    """Equal where `against` is empty."""

    against: str = ""  # why runs may not be warm
    # The cause may pass, such as no memory: nothing was found out, and it may be tried again.
    is_unfinished: bool = False
    cases: int = 0
    cpu_s: float = 0.0

    def as_json(self) -> Json:
        return asdict(self)

    @classmethod
    def of_json(cls, document: Json) -> ProofVerdict:
        return cls(**document)
