"""Users who bring tokens share connections to the API server, and each is who the token says."""

from __future__ import annotations

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, TokenClients, token_for
from rolecall_dev.localcluster import Cluster

SELF = Gvk("authentication.k8s.io", "v1", "SelfSubjectReview")


async def name_of(client: Client) -> str:
    body = {"apiVersion": SELF.api_version, "kind": SELF.kind, "metadata": {}}
    review = await client.create(SELF, body)
    return str(review["status"]["userInfo"]["username"])


async def test_users_on_one_connection_are_who_their_tokens_say(
    cluster: Cluster, namespace: str
) -> None:
    """Also beside a client that logs in with a certificate, as that of the cluster's file does."""
    credentials = Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})
    async with Client(credentials) as own:
        engine = await name_of(own)
        clients = TokenClients(own, SystemClock())
        users = {}
        for name in ("ada", "ben", "eve"):
            cluster.kubectl("create", "serviceaccount", name, "-n", namespace)
            who = f"system:serviceaccount:{namespace}:{name}"
            users[who] = clients.of(await token_for(own, namespace, name, 3600))
        for _ in range(2):  # by now, each could have the connection of another
            assert [await name_of(each) for each in users.values()] == [*users]
        for each in users.values():
            await each.close()
        assert await name_of(users[who]) == who  # one that went took no one's connections along
        assert await name_of(own) == engine
        await clients.close()
