# Two images. `--target engine`: what other operators build upon (`FROM rolecall`, then COPY watches.yaml and
# roles/). Without a target: our own operator, which is the same with the roles of this repository.
#
# Any Debian or Ubuntu with Python 3.11 or newer does as base; what it has already is not installed again.
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

# --- Everything is built here, and only results leave it: no compiler, pip or cache in the images.
FROM ${BASE_IMAGE} AS build
ENV DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python3 -c 'import ensurepip, venv' 2>/dev/null \
 || (apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv ca-certificates)

WORKDIR /build
COPY lock/ lock/
RUN python3 -m venv env && env/bin/pip install --require-hashes -r lock/tools.txt
RUN python3 -m venv --without-pip /opt/rolecall \
 && env/bin/uv pip sync --python /opt/rolecall/bin/python --no-cache --require-hashes --compile-bytecode \
    lock/runtime.txt

COPY pyproject.toml README.md ./
COPY src/ src/
RUN env/bin/pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
 && env/bin/uv pip install --python /opt/rolecall/bin/python --no-cache --no-deps --compile-bytecode dist/*.whl

# The collections of requirements.yml, each file checked against lock/collections.toml.
COPY requirements.yml ./
COPY tools/install_collections.py tools/write_sbom.py tools/
RUN ln -s /opt/rolecall/bin/ansible-galaxy env/bin/ansible-galaxy \
 && PYTHONPATH=$(echo /opt/rolecall/lib/python3*/site-packages) env/bin/python tools/install_collections.py \
 && mkdir -p /usr/share/ansible && mv .collections /usr/share/ansible/collections
# What never runs: the client's second, asynchronous copy of itself (68 MB), tests, documents, type stubs.
RUN rm -rf /usr/share/ansible/collections/ansible_collections/*/*/tests \
           /usr/share/ansible/collections/ansible_collections/*/*/docs \
 && find /opt/rolecall/lib -depth -type d -name tests ! -path '*/site-packages/ansible/*' -exec rm -rf {} + \
 && rm -rf /opt/rolecall/lib/python3*/site-packages/kubernetes/aio /opt/rolecall/lib/python3*/site-packages/ansible_test \
 && find /opt/rolecall/lib -name '*.pyi' -delete \
 && /opt/rolecall/bin/python -m compileall -q /usr/share/ansible/collections /opt/rolecall/lib
# Thousands of generated classes, of which the bytecode alone is enough (29 MB less).
RUN cd /opt/rolecall/lib/python3*/site-packages/kubernetes/client \
 && find . -name __pycache__ -exec rm -rf {} + \
 && /opt/rolecall/bin/python -m compileall -q -b . && find . -name '*.py' -delete
RUN /opt/rolecall/bin/python tools/write_sbom.py /usr/share/ansible/collections > /opt/rolecall/sbom.cdx.json

# --- The engine.
FROM ${BASE_IMAGE} AS engine
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="rolecall" \
      org.opencontainers.image.description="Runs Kubernetes operators written in Ansible" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
# tini reaps what plays leave behind.
RUN (command -v python3 && command -v tini) >/dev/null \
 || (apt-get update \
     && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends python3 tini ca-certificates \
     && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*.log)
COPY --from=build /opt/rolecall /opt/rolecall
COPY --from=build /usr/share/ansible/collections /usr/share/ansible/collections
# The paths of the Operator SDK's base image. Group 0 may write at home: some clusters choose the user.
RUN mkdir -p /etc/ansible /opt/ansible/.ansible/tmp /opt/ansible/roles /opt/ansible/playbooks \
 && printf '[defaults]\nroles_path = /opt/ansible/roles\nlibrary = /usr/share/ansible/openshift\n' > /etc/ansible/ansible.cfg \
 && printf 'localhost ansible_connection=local\n' > /etc/ansible/hosts \
 && echo 'ansible:x:1001:0:rolecall:/opt/ansible:/usr/sbin/nologin' >> /etc/passwd \
 && chown -R 1001:0 /opt/ansible && chmod -R ug+rwX /opt/ansible
ENV HOME=/opt/ansible PATH=/opt/rolecall/bin:$PATH LANG=C.UTF-8 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /opt/ansible
USER 1001
ENTRYPOINT ["tini", "--", "rolecall", "run", "--watches-file=./watches.yaml"]

# --- Our own operator.
FROM engine AS operator
COPY --chown=1001:0 watches.yaml ./
COPY --chown=1001:0 roles/ roles/
RUN rolecall check
