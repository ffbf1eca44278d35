"""A run gets no key of spec that would override what its role sets."""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall.runner import WithheldKeys
from rolecall.watches import Watch
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.scripted import watch_of
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.virtual_clock import VirtualClock


class Withholding:
    """Finds one such key in each spec."""

    async def withheld(self, _watch: Watch, cr: Json, *, is_finalizer: bool) -> WithheldKeys:
        (key,) = cr["spec"]
        return WithheldKeys({key: f"vars of the {'finalizer' if is_finalizer else 'role'}"})


async def test_withheld_key_reaches_no_run_and_an_event_names_it(
    shop: Shop, clock: VirtualClock
) -> None:
    watch = watch_of(shop.gvk, with_finalizer=True)
    setting = Setting(shop, watch, clock, ports={"spec_keys": Withholding()})
    await shop.create(finalizers=[FINALIZER])
    await setting.turn()
    await shop.cluster.delete(shop.gvk, shop.namespace, "a")
    await setting.turn()
    first, last = setting.runner.requests
    assert first.withheld == last.withheld == {"size"}
    assert (first.is_finalizer, last.is_finalizer) == (False, True)
    texts = [text for _, reason, text in setting.events.reported if reason == "KeysWithheld"]
    assert ["`size` (set in vars of the " in text for text in texts] == [True, True]
