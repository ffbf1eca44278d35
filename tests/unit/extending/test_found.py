"""Which extensions are found, in which order, and what is said of one that cannot be loaded."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from rolecall.errors import InputError
from rolecall.extending import Extension, extension_classes, found


class First(Extension):
    name = "first"


class Second(Extension):
    name = "second"
    after = ("third", "not installed")


class Third(Extension):
    name = "third"


class Circle(Extension):
    name = "third"
    after = ("second",)


class NoExtension:
    pass


def classes(monkeypatch: pytest.MonkeyPatch, *values: str) -> list[str]:
    points = [EntryPoint(value, value, found.GROUP) for value in values]
    monkeypatch.setattr(found, "entry_points", lambda group: points)
    return [each.name for each in found.installed.__wrapped__().classes]


def test_extensions_of_this_project_are_found() -> None:
    assert {"traces", "usage"} <= {each.name for each in extension_classes()}


def test_extension_is_asked_after_those_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    here = __name__
    names = classes(monkeypatch, f"{here}:First", f"{here}:Second", f"{here}:Third")
    assert names.index("third") < names.index("second")


def test_folder_that_was_deleted_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gone = "rolecall.extensions.deleted:Deleted"
    assert classes(monkeypatch, gone, f"{__name__}:First") == ["first"]
    assert "the extension `rolecall.extensions.deleted:Deleted` is missing" in caplog.text


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["Second", "Circle"], "want to be asked after each other"),
        (["Third", "Circle"], "two installed packages have an extension `third`"),
        (["NoExtension"], "is not a subclass of `Extension`"),
        (["Missing"], "cannot be loaded"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, values: list[str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        classes(monkeypatch, *(f"{__name__}:{each}" for each in values))


def test_library_that_an_extension_lacks_is_no_deleted_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(_: EntryPoint) -> None:
        raise ModuleNotFoundError("No module named 'requests'", name="requests")

    monkeypatch.setattr(EntryPoint, "load", load)
    with pytest.raises(InputError, match="requests"):
        classes(monkeypatch, f"{__name__}:First")
