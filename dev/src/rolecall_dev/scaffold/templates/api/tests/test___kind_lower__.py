"""<<kind>> on a real API server, with the real role; the fixtures come with rolecall-dev."""

import pytest


@pytest.mark.usefixtures("engine")
def test_message_is_written_and_written_again(cluster, namespace, apply, eventually):
    def get(kind, name):
        return cluster.kubectl_json("get", kind, name, "--namespace", namespace)

    apply("config/samples/<<sample>>.yaml")
    eventually(lambda: get("<<plural>>.<<group_domain>>", "<<kind_lower>>-sample"), is_ready)
    written = get("configmap", "<<kind_lower>>-sample-message")
    assert written["data"] == {"message": "hello"}

    cluster.kubectl("delete", "configmap", written["metadata"]["name"], "--namespace", namespace)
    again = eventually(lambda: get("configmap", "<<kind_lower>>-sample-message"))
    assert again["metadata"]["uid"] != written["metadata"]["uid"]


def is_ready(found):
    conditions = {each["type"]: each["status"] for each in found["status"]["conditions"]}
    return conditions["Ready"] == "True"
