# Two images. `--target engine`: what other operators build upon (`FROM rolecall`, then COPY watches.yaml,
# roles/ and playbooks/). Without a target: our own operator, which is the same with the roles and playbooks of this repository.
#
# Any Debian or Ubuntu with Python 3.11 or newer does as base; what it has already is not installed again.
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

# --- Everything is built here, and only results leave it: no compiler, pip or cache in the images.
FROM ${BASE_IMAGE} AS packages
# Behind a proxy with a certificate of its own: where its bundle is mounted.
ARG PIP_CERT
ARG SSL_CERT_FILE
ENV DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python3 -c 'import ensurepip, venv' 2>/dev/null \
 || (apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv ca-certificates)

WORKDIR /build
COPY lock/ lock/
RUN python3 -m venv env && env/bin/pip install --quiet --require-hashes -r lock/tools.txt
RUN python3 -m venv --without-pip /opt/rolecall \
 && env/bin/uv pip sync --quiet --python /opt/rolecall/bin/python --no-cache --require-hashes lock/runtime.txt
# Such as 2.18, which the Go operator's image has; empty: the one that fits this Python best.
ARG ANSIBLE_CORE
RUN if [ -n "$ANSIBLE_CORE" ]; then env/bin/uv pip install --quiet --python /opt/rolecall/bin/python --no-cache \
      --require-hashes --no-deps --requirement "lock/core/$ANSIBLE_CORE.txt"; fi

# The collections of requirements.yml, each file checked against lock/collections.toml.
COPY requirements.yml ./
COPY tools/install_collections.py tools/
RUN ln -s /opt/rolecall/bin/ansible-galaxy env/bin/ansible-galaxy \
 && PYTHONPATH=$(echo /opt/rolecall/lib/python3*/site-packages) env/bin/python tools/install_collections.py \
 && mkdir -p /usr/share/ansible && mv .collections /usr/share/ansible/collections

# What never runs: the Kubernetes client's second, asynchronous copy of itself, tests, documents, type stubs,
# symbols for debuggers. Ansible sends sources of modules, our warm runner looks whether those of Ansible and Jinja
# are as it knows them; of all others the bytecode is enough, and of thousands of generated classes without their
# documents. docs/guides/image.md says what it is worth.
RUN command -v strip >/dev/null || (apt-get update && apt-get install --yes --no-install-recommends binutils)
RUN cd /opt/rolecall/lib/python3*/site-packages \
 && rm -rf kubernetes/aio ansible_test \
 && find . -name '*.so' -exec strip --strip-unneeded {} + \
 && find . -depth -type d -name tests ! -path './ansible/*' -exec rm -rf {} + \
 && find . -name '*.pyi' -delete \
 && rm -rf /usr/share/ansible/collections/ansible_collections/*/*/tests \
           /usr/share/ansible/collections/ansible_collections/*/*/docs \
 && /opt/rolecall/bin/python -m compileall -q -j 0 . /usr/share/ansible/collections \
 && silent=$(ls -d * | grep -Ev '^(ansible|ansible_runner|jinja2|__pycache__)$|\.(dist-info|so|pth)$') \
 && find $silent __pycache__ -depth -name __pycache__ -exec rm -rf {} + \
 && /opt/rolecall/bin/python -m compileall -q -j 0 -b $silent \
 && /opt/rolecall/bin/python -m compileall -q -j 0 -b -f -o 2 kubernetes/client \
 && find $silent -name '*.py' -delete

# --- The engine's own files, apart from the rest: a new version moves few megabytes.
FROM packages AS own
COPY pyproject.toml README.md ./
COPY src/ src/
COPY base/ base/
COPY warm/ warm/
RUN env/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist . ./base ./warm \
 && env/bin/uv pip install --quiet --python /opt/rolecall/bin/python --prefix /own --no-cache --no-deps dist/*.whl \
 && /opt/rolecall/bin/python -m compileall -q /own

# --- The engine.
FROM ${BASE_IMAGE} AS engine
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="rolecall" \
      org.opencontainers.image.description="Runs Kubernetes operators written in Ansible" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0 AND GPL-3.0-or-later"
# tini reaps what plays leave behind.
RUN wanted=; \
    command -v tini >/dev/null || wanted="tini"; \
    command -v python3 >/dev/null || wanted="$wanted python3"; \
    [ -e /etc/ssl/certs/ca-certificates.crt ] || wanted="$wanted ca-certificates"; \
    [ -z "$wanted" ] \
 || (apt-get update \
     && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $wanted \
     && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*.log /var/log/apt \
               /usr/lib/python3*/test /usr/lib/python3*/pydoc_data /usr/bin/tini-static)
# The paths of the Operator SDK's base image. Group 0 may write at home: some clusters choose the user.
RUN mkdir -p /etc/ansible /opt/ansible/.ansible/tmp /opt/ansible/roles /opt/ansible/playbooks \
 && printf '[defaults]\nroles_path = /opt/ansible/roles\nlibrary = /usr/share/ansible/openshift\n' > /etc/ansible/ansible.cfg \
 && printf 'localhost ansible_connection=local\n' > /etc/ansible/hosts \
 && echo 'ansible:x:1001:0:rolecall:/opt/ansible:/usr/sbin/nologin' >> /etc/passwd \
 && chown -R 1001:0 /opt/ansible && chmod -R ug+rwX /opt/ansible
COPY --from=packages /opt/rolecall /opt/rolecall
COPY --from=packages /usr/share/ansible/collections /usr/share/ansible/collections
COPY --from=own /own /opt/rolecall
# Paths that Dockerfiles and roles of operators for the Go operator's image name. Python by a program and not by a
# link: by a link it would not know its packages. A base that has its own Python there keeps it.
RUN ln -s "$(command -v tini)" /tini \
 && ln -s /opt/rolecall/bin/rolecall /usr/local/bin/ansible-operator \
 && { [ -e /usr/local/bin/python3 ] \
      || { printf '#!/bin/sh\nexec /opt/rolecall/bin/python3 "$@"\n' > /usr/local/bin/python3 && chmod 755 /usr/local/bin/python3; }; }
# For Python packages of an operator: docs/guides/image.md. Searched last, so nothing in it replaces ours.
RUN mkdir /opt/rolecall/python-packages \
 && echo /opt/rolecall/python-packages > "$(echo /opt/rolecall/lib/python3*/site-packages)/zz-python-packages.pth"
COPY tools/write_sbom.py /tmp/
RUN /opt/rolecall/bin/python -B /tmp/write_sbom.py /usr/share/ansible/collections > /opt/rolecall/sbom.cdx.json \
 && rm /tmp/write_sbom.py
ENV HOME=/opt/ansible PATH=/opt/rolecall/bin:$PATH LANG=C.UTF-8 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /opt/ansible
USER 1001
ENTRYPOINT ["tini", "--", "rolecall", "run", "--watches-file=./watches.yaml"]

# --- Our own operator.
FROM engine AS operator
COPY --chown=1001:0 watches.yaml conversions.yaml ./
COPY --chown=1001:0 roles/ roles/
COPY --chown=1001:0 playbooks/ playbooks/
COPY --chown=1001:0 handlers/ handlers/
RUN rolecall run --validate
