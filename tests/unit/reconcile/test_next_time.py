"""When a key comes back where its outcome says so in seconds."""

from __future__ import annotations

from rolecall.reconcile import Outcome
from rolecall.reconcile.annotations import with_spec
from rolecall.workqueue import Urgency
from tests.unit.reconcile.setting import Setting, hands_for
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_time_that_a_role_asked_for_is_kept_and_ends_the_backoff(setting: Setting) -> None:
    queue, workers = hands_for(setting)
    key = setting.key()
    queue.fail(key)

    assert workers._put_back(key, Outcome(after_s=30.0)) == 30.0

    assert queue.snapshot().backing_off == 0
    assert [each.key for each in queue.delayed()] == [key]
    queue.close()


async def test_key_that_comes_back_at_once_waits_for_nothing(
    setting: Setting, clock: VirtualClock
) -> None:
    for outcome in (Outcome(after_s=0.0), Outcome(after_s=0.0, is_put_off=True)):
        queue, workers = hands_for(setting)
        workers._put_back(setting.key(), outcome)
        assert [each.key for each in queue.waiting()] == [setting.key()]
        assert queue.delayed() == []


async def test_key_that_is_put_off_still_backs_off(setting: Setting) -> None:
    queue, workers = hands_for(setting)
    queue.fail(setting.key())

    outcome = Outcome(after_s=7.0, is_put_off=True, urgency=Urgency.DEPENDENT)
    assert workers._put_back(setting.key(), outcome) == 7.0

    assert queue.snapshot().backing_off == 1
    queue.close()


async def test_key_that_rests_no_longer_backs_off(setting: Setting) -> None:
    queue, workers = hands_for(setting)
    queue.fail(setting.key())

    assert workers._put_back(setting.key(), Outcome()) is None

    assert queue.snapshot().backing_off == 0
    queue.close()


def test_spec_is_shown_as_it_is_and_an_empty_one_where_it_is_no_map() -> None:
    whole = {"spec": {"size": 1}}
    assert with_spec(whole) is whole
    assert with_spec({"kind": "App"}) == {"kind": "App", "spec": {}}
    assert with_spec({"spec": None}) == {"spec": {}}
