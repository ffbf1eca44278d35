"""<<kind>> on a real API server, with the real role; the fixtures come with rolecall-dev."""

import pytest


# Names nothing that the role makes, so it holds for any role. Add tests for what your kind promises.
@pytest.mark.usefixtures("engine")
def test_sample_is_ready_and_what_it_owns_comes_back(
    cluster, namespace, apply, dependents, eventually
):
    def ready():
        found = cluster.kubectl_json("get", "<<plural>>.<<group_domain>>", name, "-n", namespace)
        conditions = {each["type"]: each for each in found["status"]["conditions"]}
        return "yes" if conditions["Ready"]["status"] == "True" else conditions["Ready"]["message"]

    applied = apply("config/samples/<<sample>>.yaml")
    objects = applied if isinstance(applied, list) else [applied]
    cr = next(each for each in objects if each["kind"] == "<<kind>>")
    name = cr["metadata"]["name"]
    eventually(ready, lambda answer: answer == "yes")

    before = dependents(cr)
    for each in before:
        cluster.kubectl("delete", each, "-n", namespace)
    eventually(
        lambda: [f"{each} did not come back" for each in before.keys() - dependents(cr).keys()],
        lambda missing: not missing,
    )
    eventually(ready, lambda answer: answer == "yes")
