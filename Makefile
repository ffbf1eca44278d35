# An index of what one can do here; anything longer than two lines is a file in tools/.
# `make` alone lists it.

PYTHON ?= python3
BIN := .venv/bin
ROLECALL := $(BIN)/rolecall
PYTEST := $(BIN)/python -m pytest
# Every target works on one cluster: that of KUBECONFIG where it is set, else the local one.
KUBECTL ?= $(ROLECALL) cluster kubectl $(if $(KUBECONFIG),--current,--name $(NAME))
NAME ?= default
VERSION ?= 0.1.0
# Where images are pushed to; bundle and catalog have names of their own beside it.
IMAGE_TAG_BASE ?= registry.example.com/rolecall
IMG ?= $(IMAGE_TAG_BASE):v$(VERSION)
BUNDLE_IMG ?= $(IMAGE_TAG_BASE)-bundle:v$(VERSION)
CATALOG_IMG ?= $(IMAGE_TAG_BASE)-catalog:v$(VERSION)
# The folder of config/ that is deployed: all-namespaces, replicas, shards, or default for its own namespace only.
OVERLAY ?= all-namespaces
# Anything: the operator serves a page to look at (config/page).
PAGE ?=
DEPLOYED = $(if $(PAGE),build/overlay,config/$(OVERLAY))
CONTAINER_TOOL ?= docker
# A base that is here already, where no registry can be reached: BASE_IMAGE=localhost/debian:bookworm
BASE_IMAGE ?=
# Such as linux/arm64; that of this machine where it is empty.
PLATFORM ?=
# More for its command line.
BUILD_OPTIONS ?=
ARCHIVE ?= dist/image.tar
# Where set-up put them; a list of your own wins.
ANSIBLE_COLLECTIONS_PATH ?= $(CURDIR)/.collections
export ANSIBLE_COLLECTIONS_PATH
# Of `make test`: on two cores, a third worker uses what two leave idle. 0 is one process, as a debugger wants it.
WORKERS ?= 3
# Such as 2.18, another than the one that fits this Python best; it stays until ANSIBLE_CORE=default.
ANSIBLE_CORE ?=
export ANSIBLE_CORE
# Where it is set, each Python compiles all that it imports anew.
unexport PYTHONDONTWRITEBYTECODE
IMAGE_CORE = $(filter-out default,$(ANSIBLE_CORE))

# Pytest needs a terminal of its own, and two builds at once would fight for the same cores.
.NOTPARALLEL:

##@ Start

.PHONY: help
help: ## List the targets
	@$(PYTHON) tools/make_help.py $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: ## Install everything into this folder (again: does nothing; ANSIBLE_CORE=2.18: with that one)
	@sh tools/setup.sh $(PYTHON)

.PHONY: demo
demo: cluster-binaries ## The operator of this folder at work, in a live table (ONCE=1: with a verdict)
	@$(ROLECALL) demo $(if $(ONCE),--once)

##@ Test

.PHONY: test
test: cluster-binaries ## The tests of all tiers that need no root, without nightly ones, in minutes (WORKERS=0: one process)
	@$(PYTEST) --numprocesses=$(WORKERS) -m "not nightly"

.PHONY: test-fast
test-fast: cluster-binaries ## What to run after each edit: unit tests without slow ones, a few of the API server and the engine
	@$(PYTEST) --numprocesses=$(WORKERS) -m "fast or (unit and not slow and not nightly)" tests/unit tests/play tests/apiserver tests/e2e

# Such as 2/4: the second of four shards that take equally long.
SHARD ?=
# The room whose mutants `make test-all` makes; another one each day where it is empty.
MUTANTS ?=

.PHONY: test-all
test-all: cluster-binaries ## Everything: nightly tests, browser, real nodes, matrix, mutants; at the end, what was not run (SHARD=2/4 MUTANTS=proxy)
	@$(BIN)/python -m tools.test_all --shard "$(SHARD)" --workers "$(WORKERS)" --room "$(MUTANTS)"

.PHONY: affected
affected: setup ## The nightly tests that CI runs for HEAD (TOUCHING=src/rolecall/skip: for a commit of that)
	@$(BIN)/python -m tools.affected $(if $(TOUCHING),--touching $(TOUCHING))

.PHONY: test-unit
test-unit: setup ## Rules of one room each: no network, no Ansible
	@$(PYTEST) tests/unit

.PHONY: test-play
test-play: setup ## Real ansible-playbook on tiny roles
	@$(PYTEST) tests/play

.PHONY: test-apiserver
test-apiserver: cluster-binaries ## Against a real API server
	@$(PYTEST) tests/apiserver

.PHONY: test-e2e
test-e2e: cluster-binaries ## The engine as a process, on a whole control plane
	@$(PYTEST) tests/e2e

# Five replicas and 1,000 CRs from six minutes on; fewer before.
MINUTES ?= 10
SEED ?=

.PHONY: dice
dice: export DICE_MINUTES = $(MINUTES)
dice: export DICE_SEED = $(SEED)
dice: cluster-binaries ## Replicas with shards that are killed, frozen and cut off by a die (MINUTES=60 SEED=7)
	@$(PYTEST) -s tests/e2e/shards

.PHONY: reliability
reliability: cluster-binaries ## Run the tests of docs/reliability.md, and write there what they said (ONLY=webhook)
	@$(BIN)/python -m tools.reliability --only "$(ONLY)"

CASES ?= 100000

.PHONY: hostile
hostile: setup ## Hostile input by the generator, in processes (CASES=1000000 SEED=7): cases/s, what broke, how to replay
	@$(BIN)/python -m tests.unit.hostile --cases $(CASES) $(if $(SEED),--seed $(SEED))

.PHONY: test-browser
test-browser: cluster-binaries ## The page in a real browser; pictures of it are in build/screenshots
	@$(PYTEST) tests/browser

.PHONY: test-molecule
test-molecule: cluster-binaries ## The roles by themselves and twice, and a project made just now
	@$(PYTEST) tests/molecule

.PHONY: record-stock
record-stock: cluster-binaries ## Make the stock runs that warm ones are compared with, and record them for the next time
	@$(PYTEST) --record-stock tests/play/fidelity tests/apiserver/warm/test_fidelity.py

.PHONY: test-real
test-real: export ROLECALL_REAL = 1
test-real: cluster-binaries ## On nodes that run containers: needs root and packages, says which
	@$(PYTEST) tests/real

.PHONY: test-matrix
test-matrix: cluster-binaries ## Each Python with each ansible-core, as a table (ONLY=3.13/2.21, PYTHONS=..., TIERS="unit demo", ENDS=1: oldest and newest)
	@$(BIN)/python -m tools.test_matrix --only "$(ONLY)" --pythons "$(PYTHONS)" --tiers "$(TIERS)" $(if $(ENDS),--ends)

ROOM ?= status

.PHONY: mutants
mutants: setup ## Change one thing of a room at a time, and see whether a test fails (ROOM=status SAMPLE=200 SEED=7)
	@nice -n 19 $(BIN)/python -m tools.mutants $(ROOM) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED))

.PHONY: molecule
molecule: cluster-binaries ## The roles: twice by themselves, then under the operator, on a cluster of their own
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/molecule test -s local

.PHONY: bench
bench: cluster-binaries ## The whole engine, stock against warm (QUICK=1: within a minute; PUBLISH=1: into docs)
	@$(BIN)/python bench/engine.py $(if $(QUICK),--quick) $(if $(PUBLISH),--publish)

.PHONY: bench-soak
bench-soak: cluster-binaries ## Many warm runs of one engine: what grows? (RUNS=1000)
	@$(BIN)/python bench/engine.py --soak $(or $(RUNS),1000)

.PHONY: soak
soak: cluster-binaries ## Edits, failures, deletions, creations: fails where something of the engine grows (RUNS=10000)
	@$(BIN)/python bench/soak.py --runs $(or $(RUNS),10000)

.PHONY: churn
churn: cluster-binaries ## 20 edits a second: fails where one is lost, or something grows (MINUTES=60)
	@$(BIN)/python bench/churn.py --minutes $(MINUTES)

.PHONY: bench-kinds
bench-kinds: cluster-binaries ## What users do to each kind, in seconds: the table of docs/reference/kind-times.md
	@$(BIN)/python bench/kinds.py

.PHONY: check
check: setup ## Lint, format, types, layers, roles, YAML, words; each with its time
	@$(BIN)/python tools/check.py

.PHONY: check-roles
check-roles: setup ## Lint roles and playbooks, and prove that kinds agree with them
	@$(BIN)/python tools/check.py roles yaml kinds

.PHONY: check-crds
check-crds: setup ## Prove that CRDs, roles, samples, RBAC and docs agree
	@$(BIN)/python tools/check.py kinds

.PHONY: format
format: setup ## Rewrite Python as `check` wants it
	@$(BIN)/ruff check --fix --quiet . && $(BIN)/ruff format --quiet .

##@ Local cluster

.PHONY: cluster-binaries
cluster-binaries: setup ## Build etcd, kube-apiserver and the rest (once, takes some minutes)
	@$(ROLECALL) cluster build $(if $(ROLECALL_REAL),--real)

.PHONY: up
up: cluster-binaries ## Start a cluster on this machine (NAME=default)
	@$(ROLECALL) cluster up --name $(NAME)

.PHONY: down
down: setup ## Remove it with everything in it
	@$(ROLECALL) cluster down --name $(NAME)

.PHONY: run
run: $(if $(KUBECONFIG),setup,up) install ## Run the operator of this folder, in the foreground (KUBECONFIG: on that cluster)
	@KUBECONFIG=$${KUBECONFIG:-$$($(ROLECALL) cluster kubeconfig --name $(NAME))} $(ROLECALL) run

.PHONY: install
install: setup ## Install the CRDs
	@$(KUBECTL) apply -k crds

.PHONY: uninstall
uninstall: setup ## Remove the CRDs, and with them every custom resource
	@$(KUBECTL) delete --ignore-not-found -k crds

##@ Ship

.PHONY: image
image: ## Build the image IMG of the operator of this folder (TARGET=engine: without its roles; ANSIBLE_CORE=2.18)
	$(CONTAINER_TOOL) build -t $(IMG) $(if $(TARGET),--target $(TARGET)) $(if $(PLATFORM),--platform $(PLATFORM)) --build-arg VERSION=$(VERSION) $(if $(BASE_IMAGE),--build-arg BASE_IMAGE=$(BASE_IMAGE)) $(if $(IMAGE_CORE),--build-arg ANSIBLE_CORE=$(IMAGE_CORE)) $(BUILD_OPTIONS) .

.PHONY: image-archive
image-archive: ## The same where no registry can be reached, from Debian packages, as the file ARCHIVE
	@ANSIBLE_CORE= sh tools/setup.sh $(PYTHON) # the one asked for is the image's, not this clone's
	@$(BIN)/python tools/image_archive.py $(IMG) $(ARCHIVE) $(if $(TARGET),TARGET=$(TARGET)) $(if $(PLATFORM),PLATFORM=$(PLATFORM)) ANSIBLE_CORE=$(IMAGE_CORE)

.PHONY: build/overlay/kustomization.yaml
build/overlay/kustomization.yaml: # each time, since OVERLAY may be another
	@mkdir -p $(@D)
	@printf '%s\n' 'resources: [../../config/$(OVERLAY)]' 'components: [../../config/page]' > $@

.PHONY: deploy
deploy: $(if $(PAGE),build/overlay/kustomization.yaml) setup ## Install the operator with the image IMG (OVERLAY=replicas: two of it, shards: which both work; default: for its own namespace only; PAGE=1: with its page)
	@$(KUBECTL) kustomize $(DEPLOYED) | sed 's|image: controller:latest|image: $(IMG)|' | $(KUBECTL) apply -f -

.PHONY: undeploy
undeploy: $(if $(PAGE),build/overlay/kustomization.yaml) setup ## Remove the operator with everything that belongs to it
	@# The custom resources first, while an engine can finalize them.
	@$(KUBECTL) delete --ignore-not-found -k crds
	@$(KUBECTL) delete --ignore-not-found -k $(DEPLOYED)

.PHONY: bundle
bundle: setup ## Write the OLM bundle for VERSION with the image IMG (REPLACES=VERSION: that it follows)
	@$(KUBECTL) kustomize config/manifests | $(ROLECALL) bundle --package rolecall --version $(VERSION) --image $(IMG) $(if $(REPLACES),--replaces $(REPLACES))

.PHONY: bundle-validate
bundle-validate: setup ## Check the bundle as OLM does, and a little more
	@$(ROLECALL) bundle --validate

.PHONY: scorecard
scorecard: cluster-binaries ## Run the basic and OLM tests of the scorecard on it, and ask an API server
	@$(ROLECALL) bundle --scorecard --local-cluster

.PHONY: catalog
catalog: setup ## Write the catalog with the bundle image BUNDLE_IMG as its newest entry
	@$(ROLECALL) catalog --bundle-image $(BUNDLE_IMG)

.PHONY: bundle-image
bundle-image: ## Build the image BUNDLE_IMG of the bundle
	$(CONTAINER_TOOL) build -f bundle.Dockerfile -t $(BUNDLE_IMG) .

.PHONY: catalog-image
catalog-image: ## Build the image CATALOG_IMG of the catalog
	$(CONTAINER_TOOL) build -f catalog.Dockerfile -t $(CATALOG_IMG) .

.PHONY: dist
dist: setup ## Build sdists and wheels into dist/: the engine, its warm host, and what developers need
	@$(BIN)/python -m hatchling build
	@for own in base warm dev; do (cd $$own && ../$(BIN)/python -m hatchling build --directory ../dist) || exit; done

##@ Maintain

.PHONY: lock
lock: setup ## Take newer releases into the lock files (OPTIONS=--upgrade)
	@$(BIN)/python tools/lock.py $(OPTIONS)

.PHONY: clean
clean: ## Remove what set-up and tools made; the cache of built programs stays
	@rm -rf .venv .collections .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .ansible dist build
