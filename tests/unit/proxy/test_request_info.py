"""A request is read as the API server reads it."""

from __future__ import annotations

import pytest

from rolecall.proxy.request_info import RequestInfo, has_dot_segment, parse_request_info

# method, path, query -> verb, group, version, resource, subresource, namespace, name
TABLE = [
    ("POST", "/api/v1/namespaces/a/pods", "", "create v1 pods a"),
    ("GET", "/api/v1/namespaces/a/pods", "", "list v1 pods a"),
    ("GET", "/api/v1/pods", "", "list v1 pods -"),
    ("GET", "/api/v1/pods/", "", "list v1 pods -"),
    ("GET", "/api/v1/namespaces/a/pods/p", "", "get v1 pods a p"),
    ("HEAD", "/api/v1/namespaces/a/pods/p", "", "get v1 pods a p"),
    ("GET", "/api/v1/namespaces/a/pods/p/log", "follow=true", "get v1 pods/log a p"),
    ("GET", "/api/v1/pods", "watch=true", "watch v1 pods -"),
    ("GET", "/api/v1/pods", "watch=", "watch v1 pods -"),
    ("GET", "/api/v1/pods", "watch=0", "list v1 pods -"),
    ("GET", "/api/v1/pods", "watch=False", "list v1 pods -"),
    ("GET", "/api/v1/namespaces/a/pods", "fieldSelector=metadata.name%3Dp", "list v1 pods a p"),
    ("GET", "/api/v1/pods", "fieldSelector=spec.nodeName%3Dn", "list v1 pods -"),
    ("GET", "/api/v1/watch/namespaces/a/pods", "", "watch v1 pods a"),
    ("GET", "/api/v1/watch/namespaces/a/pods/p", "", "watch v1 pods a p"),
    ("GET", "/api/v1/proxy/namespaces/a/services/s/x/y", "", "proxy v1 services a s"),
    ("GET", "/api/v1/namespaces", "", "list v1 namespaces -"),
    ("GET", "/api/v1/namespaces/a", "", "get v1 namespaces a a"),
    ("PUT", "/api/v1/namespaces/a/status", "", "update v1 namespaces/status a a"),
    ("PUT", "/api/v1/namespaces/a/finalize", "", "update v1 namespaces/finalize a a"),
    ("POST", "/apis/apps/v1/namespaces/a/deployments", "", "create apps/v1 deployments a"),
    ("PATCH", "/apis/apps/v1/namespaces/a/deployments/d", "", "patch apps/v1 deployments a d"),
    (
        "PUT",
        "/apis/apps/v1/namespaces/a/deployments/d/scale",
        "",
        "update apps/v1 deployments/scale a d",
    ),
    ("DELETE", "/apis/apps/v1/namespaces/a/deployments/d", "", "delete apps/v1 deployments a d"),
    (
        "DELETE",
        "/apis/apps/v1/namespaces/a/deployments",
        "",
        "deletecollection apps/v1 deployments a",
    ),
    ("GET", "/apis/x.io/v1/things/%C3%BC", "", "get x.io/v1 things - ü"),
    # The API server decodes first and looks for slashes then.
    ("GET", "/api/v1/namespaces%2Fa%2fpods/p", "", "get v1 pods a p"),
    ("POST", "/api%2Fv1%2fnamespaces%2fa%2Fpods", "", "create v1 pods a"),
    ("POST", "/api/v1/namespaces/a%2Fpods%2Fp%2Feviction", "", "create v1 pods/eviction a p"),
    ("GET", "/apis/x.io/v1/things/a%252Fb", "", "get x.io/v1 things - a%2Fb"),
]


@pytest.mark.parametrize(("method", "path", "query", "expected"), TABLE)
def test_about_a_resource(method: str, path: str, query: str, expected: str) -> None:
    verb, api_version, resource, namespace, name = (*expected.split(), "")[:5]
    group, _, version = api_version.rpartition("/")
    plural, _, subresource = resource.partition("/")
    read = parse_request_info(method, path, query)
    assert (read.verb, read.group, read.version) == (verb, group, version)
    assert (read.resource, read.subresource) == (plural, subresource)
    assert (read.namespace, read.name) == (namespace.strip("-"), name)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        "/api",
        "/api/",
        "/api/v1",
        "/apis",
        "/apis/apps",
        "/apis/apps/v1",
        "/version",
        "/x/y/z/a",
    ],
)
def test_about_no_resource(path: str) -> None:
    assert parse_request_info("GET", path) == RequestInfo("get", path)


@pytest.mark.parametrize(
    ("path", "does"),
    [
        ("/api/../x", True),
        ("/api/./x", True),
        ("/api/x/..", True),
        ("/api/%2e%2E/x", True),
        ("/api/.%2e/x", True),
        ("/api/..%2fx", True),
        ("/api%2F..%2Fx", True),
        ("/api/%2e%2e%2fx", True),
        ("/api/..;/x", True),
        ("/api/..;a=b/x", True),
        ("/api/..%3b/x", True),
        ("/api/..\\x", True),
        ("/api/..%5cx", True),
        ("/api/x%5c..", True),
        ("/api/..%3fx", True),
        ("/api/..%23x", True),
        ("/api/%252e%252e/x", True),
        ("/api/%252e%252e%252fx", True),
        ("/api/..%252fx", True),
        ("/api/%25252e%25252e/x", True),
        ("/api/%" + "25" * 50 + "2e/x", True),  # no client means that
        ("/api/..x/a..b", False),
        ("/api/.../x", False),
        ("/api/a%5cb", False),
        ("/api/a%3bb;c", False),
        ("/api/system%3Anode", False),
        ("/api/a%2Fb", False),
        ("/api/a%252Fb", False),
        ("/api/%C3%BC", False),
        ("/api/100%", False),
        ("/api/v1/namespaces/a/services/s/proxy/x.y/.well-known/z", False),
    ],
)
def test_climbing_paths_are_seen(path: str, does: bool) -> None:
    assert has_dot_segment(path) is does


@pytest.mark.parametrize(
    ("method", "path", "query", "verb", "name"),
    [
        ("PUT", "/api/v1/nodes", "watch=1", "update", ""),
        ("DELETE", "/api/v1/nodes/n", "fieldSelector=metadata.name%3Dx", "delete", "n"),
        ("DELETE", "/api/v1/nodes", "fieldSelector=metadata.name%3Dx", "deletecollection", ""),
        ("GET", "/api/v1/nodes", "watch=1&watch=0", "watch", ""),
        ("GET", "/api/v1/nodes", "watch=0&watch=1", "list", ""),
        ("GET", "/api/v1/nodes", "watch", "watch", ""),
        ("GET", "/api/v1/nodes", "watch=1&fieldSelector=metadata.name%3D%3Dx", "watch", "x"),
        ("GET", "/api/v1/nodes", "fieldSelector=a%3Db,metadata.name%3Dx,c!%3Dd", "list", "x"),
        ("GET", "/api/v1/nodes", "fieldSelector=metadata.name!%3Dx", "list", ""),
        ("GET", "/api/v1/nodes", "fieldSelector=metadata.name", "list", ""),
        ("GET", "/api/v1/nodes", "fieldSelector=&a=metadata.name%3Dx", "list", ""),
        ("GET", "/api/v1/watch/nodes", "fieldSelector=metadata.name%3Dx", "watch", "x"),
        ("OPTIONS", "/api/v1/nodes/n", "", "options", "n"),
    ],
)
def test_verb_and_name_of_what_names_no_object_come_from_the_query(
    method: str, path: str, query: str, verb: str, name: str
) -> None:
    expected = RequestInfo(verb, path, "", "v1", "nodes", "", "", name)
    assert parse_request_info(method, path, query) == expected


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/v1/watch", ("get", "watch", "", "", "")),  # a resource of that name
        ("/api/v1/proxy/pods/p/a/b", ("proxy", "pods", "", "", "p")),
        ("/api/v1/proxy/namespaces/a/pods/p/x", ("proxy", "pods", "", "a", "p")),
        ("/api/v1/namespaces/a/status", ("get", "namespaces", "status", "a", "a")),
        ("/api/v1/namespaces/a/finalize/x", ("get", "namespaces", "finalize", "a", "a")),
        ("/api/v1/namespaces/a/pods/p/proxy/x", ("get", "pods", "proxy", "a", "p")),
        ("/api/v1/namespaces/", ("list", "namespaces", "", "", "")),
    ],
)
def test_odd_paths_are_read_as_the_api_server_reads_them(
    path: str, words: tuple[str, str, str, str, str]
) -> None:
    read = parse_request_info("GET", path)
    said = (read.verb, read.resource, read.subresource, read.namespace, read.name)
    assert said == (("list", *words[1:]) if words[1] == "watch" else words)


@pytest.mark.parametrize("path", ["/api/v1/namespaces/a//", "/apis/x.io/v1//a", "/api/v1//"])
def test_empty_segment_names_no_resource(path: str) -> None:
    assert parse_request_info("POST", path).resource == ("namespaces" if "/a//" in path else "")


def test_what_is_about_objects_has_a_resource_and_no_subresource() -> None:
    for path, is_resource, is_about_objects in [
        ("/api/v1/pods", True, True),
        ("/api/v1/namespaces/a/pods/p/log", True, False),
        ("/version", False, False),
    ]:
        read = parse_request_info("GET", path)
        assert (read.is_resource, read.is_about_objects) == (is_resource, is_about_objects)


@pytest.mark.parametrize(("times", "does"), [(3, False), (4, False), (5, True)])
def test_path_that_is_encoded_too_often_is_refused(times: int, does: bool) -> None:
    assert has_dot_segment("/api/%" + "25" * (times - 1) + "41") is does
