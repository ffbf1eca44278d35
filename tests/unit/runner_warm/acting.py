"""Every way in which a play can act that a plan must not take for a harmless one."""

from __future__ import annotations

from collections.abc import Iterator

# Of each program a verb that is fine by itself, to which one thing is added that is not.
_FINE = {
    "kubectl": ("get pods", "apply -f x.yml", "delete cm x", "create cm x", "patch cm x -p {}"),
    "oc": ("get pods", "apply -f x.yml", "scale deploy/x --replicas=2"),
    "helm": ("upgrade --install web ./chart", "uninstall web", "list"),
}
_LOGINS = {
    "kubectl": (
        "--kubeconfig /x",
        "--kubeconfig=/x",
        "--context=other",
        "--cluster other",
        "--server=https://other",
        "-s https://other",
        "-shttps://other",
        "--token=x",
        "--user=x",
        "--as=admin",
        "--certificate-authority=/x",
        "--username x",
        "--insecure-skip-tls-verify",
        "--tls-server-name=x",
    ),
    "helm": (
        "--kubeconfig /x",
        "--kube-context=other",
        "--kube-apiserver=https://other",
        "--kube-token=x",
        "--kube-as-user x",
        "--kube-ca-file=/x",
    ),
}
_LOGINS["oc"] = _LOGINS["kubectl"]
_WRITES_AND_PROGRAMS = {
    "kubectl": (
        "--profile=cpu --profile-output=/x",
        "--log-file=/x",
        "--log-dir=/x",
        "--cache-dir=/x",
        "--edit",
        "-k ./x",
        "-f https://other/x.yml",
        "--filename=https://other/x.yml",
        "--wait",
        "--wait=true",
        "--timeout=60s",
        "-w",
        "--watch",
        "--unknown",
        "--unknown x",
        "-Z",
        "-n --kubeconfig=/x",
        "--dry-run --kubeconfig /x",
        "-- sh -c x",
    ),
    "helm": (
        "--post-renderer ./x",
        "--post-renderer=./x",
        "--post-renderer-args x",
        "--dependency-update",
        "--repo https://other",
        "--repository-config /x",
        "--repository-cache=/x",
        "--registry-config /x",
        "--keyring /x",
        "--output-dir /x",
        "--wait",
        "--wait-for-jobs",
        "--atomic",
        "--timeout 5m",
        "--burst-limit 3",
        "--values https://other/values.yaml",
        "-f https://other/values.yaml",
    ),
}
_WRITES_AND_PROGRAMS["oc"] = _WRITES_AND_PROGRAMS["kubectl"]
_VERBS = {
    "kubectl": (
        "",
        "attach x",
        "auth reconcile -f x.yml",
        "certificate approve x",
        "config set-context x",
        "cp a b:/c",
        "create myplugin x",
        "create token x",
        "debug x",
        "diff -f x.yml",
        "drain x",
        "edit cm x",
        "exec x -- rm y",
        "kustomize .",
        "myplugin",
        "my plugin",
        "plugin list",
        "port-forward x 1:1",
        "proxy",
        "run x --image=y --rm -i",
        "apply edit-last-applied cm x",
        "cluster-info dump --output-directory=/x",
        "ns other",
        "--unknown shop get pods",
    ),
    "oc": (
        "login https://other",
        "logout",
        "project other",
        "new-app x",
        "adm must-gather",
        "rsh x",
        "rsync a b:/c",
        "extract secret/x --to=/y",
        "image mirror a b",
        "start-build x --from-dir=.",
        "whoami -t",
    ),
    "helm": (
        "",
        "pull x",
        "push x y",
        "package .",
        "create x",
        "plugin install x",
        "repo add x https://other",
        "repo update",
        "registry login x",
        "dependency update .",
        "diff upgrade web ./chart",
        "secrets dec x",
        "env",
        "completion bash",
        "test web",
        "upgrade web repo/chart",
        "upgrade web oci://other/chart",
        "install web https://other/chart.tgz",
        "template web ./chart --output-dir /x",
    ),
}
# What a shell does with a line of a harmless command.
_SHELL = (
    "{} > /x",
    "{} >> /x",
    "{} 2> /x",
    *(
        # Near to what acts on nothing, which is a redirection by itself to or from the null device.
        f"{{}} {redirection}"
        for redirection in (
            *("&>/dev/null", ">&/dev/null", ">|/dev/null", "<>/dev/null", "3>/dev/null", "2>&3"),
            *("12>/dev/null", "2>&-", "2>&1x", "2>&12", "> /dev/nullx", ">/dev/null/../x"),
            *(
                ">/dev/null\\\nx",
                ">/dev/null'x'",
                '>"/x"/dev/null',
                "> 'x'/dev/null",
                ">x/dev/null",
            ),
            *(">\n/dev/null", ">/dev/null >/x", ">/dev/null rm x | sh", "2>&1 | sh", "2>&1 & rm x"),
            *(">/dev/null\nrm x", "</dev/null <x", "</dev/null.yml", "<</dev/null", "<<</dev/null"),
            *(">/dev/zero", ">/dev/sda", ">/dev/stdout", ">//dev/null", ">/dev/null; rm x"),
            *('">/dev/null"; rm x', "';' 2>/dev/null; rm x", ">/dev/null --kubeconfig=/x"),
        )
    ),
    "{}>/x",
    "{} &> /x",
    "{} >| /x",
    "{} < /x",
    "{} <<EOF\nkind: x\nEOF",
    "{} <<< x",
    "{} | sh",
    "{} | sort -o /x",
    "{} | tee /x",
    "{} | jq .",
    "{} |& sh",
    "{} & rm x",
    "{} && rm x",
    "{} || rm x",
    "{} ; rm x",
    "rm x; {}",
    "{}\nrm x",
    "{} $(rm x)",
    '{} "$(rm x)"',
    "{} `rm x`",
    "{} $OPTS",
    '{} "$OPTS"',
    "{} ${{OPTS}}",
    "{} '$OPTS'",
    "({})",
    "{{ {}; }}",
    "{} *",
    "{} ?",
    "{} [a-z]",
    "{} {{--kubeconfig,/x}}",
    "{} ~/x",
    "{} !x",
    "{} \\\\--x",
    "{} ';' echo --kubeconfig=/x",
    "{} '&&' true --kubeconfig=/x",
    "{} 'unended",
    "! {}",
    "if {}; then rm x; fi",
    "X=1 {}",
    "KUBECONFIG=/x {}",
    "PATH=/x {}",
    "env {}",
    "sudo {}",
    "exec {}",
    "eval {}",
    "time {}",
    "timeout 3 {}",
    "nohup {}",
    "xargs {}",
    "bash -c '{}'",
    "./{}",
    "/tmp/{}",
    "bin/{}",
    "../{}",
    "cd /x && {}",
    "export KUBECONFIG=/x; {}",
    ". /x; {}",
    "alias true=rm; {}",
    "trap 'rm x' EXIT; {}",
)
HARMLESS_REDIRECTIONS = (
    *(">/dev/null", "> /dev/null", ">>/dev/null", "1>/dev/null", "2>/dev/null", "2> /dev/null"),
    *("2>>/dev/null", "</dev/null", "< /dev/null", "0</dev/null", "2>&1", "1>&2", ">&2"),
)
_PROGRAMS = (
    "",
    "   ",
    "rm x",
    "curl -X POST https://other",
    "wget x",
    "python3 -c x",
    "ansible-playbook x",
    "crictl rm x",
    "docker rm x",
    "terraform apply",
    "istioctl install",
    "argocd app sync x",
    "cat x",
    "printf -v x y",
    "test -f x",
    "KUBECTL get pods",
)


def acting_lines() -> Iterator[str]:
    """Lines of a shell that a plan must not run."""
    for program, lines in _FINE.items():
        for line in lines:
            whole = f"{program} {line}"
            for more in (*_LOGINS[program], *_WRITES_AND_PROGRAMS[program]):
                yield f"{whole} {more}"
            yield from (shape.format(whole) for shape in _SHELL)
        yield from (f"{program} {option} {lines[0]}" for option in _LOGINS[program])
    for program, lines in _VERBS.items():
        yield from (f"{program} {line}".strip() for line in lines)
        yield from (f"{program} -n shop {line}".strip() for line in lines)
    yield from _PROGRAMS


def acting_words() -> Iterator[str]:
    """Lines of `command`, which no shell reads, that a plan must not run."""
    for program, lines in _FINE.items():
        for line in lines:
            for more in (*_LOGINS[program], *_WRITES_AND_PROGRAMS[program], "$OPTS", "${OPTS}"):
                yield f"{program} {line} {more}"
    for program, lines in _VERBS.items():
        yield from (f"{program} {line}".strip() for line in lines)
    yield from _PROGRAMS


ACTING_ACTIONS = (
    ("async_status", "ansible.builtin", True),
    ("fetch", "ansible.builtin", True),
    ("package", "ansible.builtin", True),
    ("raw", "ansible.builtin", True),
    ("reboot", "ansible.builtin", True),
    ("script", "ansible.builtin", True),
    ("service", "ansible.builtin", True),
    ("unarchive", "ansible.builtin", True),
    ("uri", "ansible.builtin", True),
    ("set_fact", "", False),
    ("k8s", "", False),
    ("command", "", False),
    ("anything", "community.general", True),
)
ACTING_MODULES = (
    "",
    "ansible.builtin.apt",
    "ansible.builtin.cron",
    "ansible.builtin.expect",
    "ansible.builtin.get_url",
    "ansible.builtin.git",
    "ansible.builtin.package",
    "ansible.builtin.pip",
    "ansible.builtin.service",
    "ansible.builtin.subversion",
    "ansible.builtin.systemd",
    "ansible.builtin.tempfile",
    "ansible.builtin.unarchive",
    "ansible.builtin.uri",
    "ansible.builtin.user",
    "community.general.anything",
    "community.okd.k8s",
    "k8s",
    "kubernetes.core.helm_plugin",
    "kubernetes.core.helm_pull",
    "kubernetes.core.helm_registry_auth",
    "kubernetes.core.helm_repository",
    "kubernetes.core.helm_template",
    "kubernetes.core.k8s_cp",
    "kubernetes.core.k8s_drain",
    "kubernetes.core.k8s_exec",
)
# Arguments and variables with which a module of the API is none any more.
LEADS = (
    *("api_key", "cert_file", "client_cert", "client_key", "context", "host", "key_file"),
    *("kube_context", "kubeconfig", "kubeconfig_path", "password", "proxy", "username"),
)
VARIABLES = (
    *("HELM_KUBECONTEXT", "HELM_PLUGINS", "HTTPS_PROXY", "K8S_AUTH_HOST", "K8S_AUTH_KUBECONFIG"),
    *("KUBECONFIG", "LD_PRELOAD", "PATH", "PYTHONPATH", "https_proxy"),
)
HELM_LEADS = (
    ("binary_path", "/x"),
    ("chart_ref", "repo/chart"),
    ("chart_ref", "oci://other/chart"),
    ("chart_repo_url", "https://other"),
    ("dependency_update", True),
    ("dep_up", True),
    ("post_renderer", "/x"),
    ("update_repo_cache", True),
    ("values_files", ["https://other/values.yaml"]),
)
ACTING_LOOKUPS = (
    "",
    "ansible.builtin.lines",
    "ansible.builtin.password",
    "ansible.builtin.pipe",
    "ansible.builtin.url",
    "community.general.anything",
    "kubernetes.core.kustomize",
    "own.file",
)
