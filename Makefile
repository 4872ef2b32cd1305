# Thin: each target names the commands it stands for; the work is in cargo, pytest and airtcp.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
MATURIN := $(BIN)/maturin
# Versions of the packages that are installed.
PINNED := packaging/requirements
READY := $(VENV)/.requirements
DEV_READY := $(VENV)/.requirements-dev
COMPILED := $(VENV)/.compiled
EXTENSION := $(VENV)/.extension
SITE_READY := $(VENV)/.site
WHEEL_READY := $(VENV)/.wheel
# Linked for any Linux since 2018 on the processors of packaging/targets.py, for this system on others;
# with WHEEL_BPF=1 and clang, airtcp-net has the kernel's BPF too.
PROCESSOR := $(filter x86_64 aarch64,$(shell uname -m))
WHEEL_FLAGS ?= $(if $(NET),$(PROCESSOR:%=--target %-unknown-linux-gnu) $(if $(WHEEL_BPF),--bpf))
# Real packets are Linux's alone.
NET := $(if $(filter Linux,$(shell uname -s)),$(BIN)/airtcp-net)
# Features of airtcp-net that can be built here. The stamp changes with them: a package installed
# later has it built again.
FEATURES := $(VENV)/.features
BPF_FEATURES = $(if $(NET),$(shell packaging/features))
# Every check on for our own crates; what others wrote is shared with what make build built.
CHECKED := CARGO_PROFILE_LOCAL_DEBUG_ASSERTIONS=true CARGO_PROFILE_LOCAL_OVERFLOW_CHECKS=true
# The tests of airtcp-net, by cargo's rule: a file, or a folder with a main.rs. They are named among
# the whole workspace: one package alone has other features in what it shares with the rest.
REAL_TESTS := $(patsubst %,--test %,$(basename $(notdir $(wildcard crates/net/tests/*.rs))) \
  $(notdir $(patsubst %/main.rs,%,$(wildcard crates/net/tests/*/main.rs))))
# Property tests draw the same cases in every run; check-long draws new ones.
SAME_CASES := PROPTEST_RNG_SEED=1
# A line for each Rust test that could not run here, with the reason.
SKIPPED := $(CURDIR)/out/skipped
RUST_TESTS := mkdir -p out && rm -f $(SKIPPED) && AIRTCP_SKIPPED=$(SKIPPED) $(CHECKED) $(SAME_CASES)
NAME_SKIPPED := @if [ -s $(SKIPPED) ]; then echo "skipped, of the tests in Rust:"; sort -u $(SKIPPED); fi
BPF_SOURCES := $(wildcard bpf/*)
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
DEVELOP = PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(MATURIN) develop --quiet --profile local
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null) Cargo.toml Cargo.lock

# A processor without an operating system, and the crates that have to build for it.
BARE := thumbv7em-none-eabihf
BARE_CRATES := $(addprefix --package airtcp-,units packet bpf tcp endpoint)
has_bare = $(wildcard $(shell rustc --print target-libdir --target $(BARE) 2>/dev/null)/libcore-*)

# A browser, for the lab without a server.
WASM := wasm32-unknown-unknown
has_wasm = $(wildcard $(shell rustc --print target-libdir --target $(WASM) 2>/dev/null)/libcore-*)

# Where cargo puts what it builds.
BUILT := $(or $(CARGO_TARGET_DIR),target)

REPORT := out/demo
# Of `airtcp kernels`; "machine" is this one, in real time.
KERNEL ?= 6.12

.DEFAULT_GOAL := help
.PHONY: help demo demo-docs papers papers-docs verify studies-docs newzag-docs diagnose-docs demo-kernel build test real wheel release bench count lint check-long docs lint-rust lint-python site site-pages clean tools asked

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | expand -t 14

demo: $(EXTENSION) ## a link on one page: what is wrong, what helps, what to do; out/demo/index.html
	$(BIN)/airtcp demo --no-kernel --out $(REPORT)
	@$(MAKE) --no-print-directory demo-kernel

# Runs that are stored are not repeated.
demo-kernel: $(NET)
	@if command -v qemu-system-x86_64 >/dev/null && $(BIN)/airtcp kernels --json | grep -q release; then \
	  echo "$(BIN)/airtcp demo --out $(REPORT)"; $(BIN)/airtcp demo --out $(REPORT); fi

papers: build ## every claim of the papers, judged; out/papers/index.html
	$(BIN)/airtcp papers --out out/papers

papers-docs: build ## the same, with results written into docs/ and papers/
	$(BIN)/airtcp papers --png --seed-sets 3 --out out/papers
	$(BIN)/python pages/write_papers.py out/papers

verify: build ## 48 settings and the papers on a kernel and in simulation, written into docs/
	$(BIN)/python pages/write_real.py --out out/verify --kernel $(KERNEL)
	$(BIN)/python pages/write_papers_real.py --out out/verify --kernel $(KERNEL)

demo-docs: build ## the demonstration, with its results written into README.md
	$(BIN)/python pages/write_demo.py out/demo

studies-docs: build ## the shipped studies run, and their tables, figures and findings written into docs/measurements/; two minutes
	$(BIN)/python pages/write_studies.py out/studies
	$(BIN)/python pages/write_findings.py

newzag-docs: build ## NewZag on a kernel, written into docs/measurements/real.md; 15 minutes
	$(BIN)/python pages/write_newzag.py out/newzag --kernel $(KERNEL)

diagnose-docs: build ## records a kernel in virtual time over emulated links, scores diagnoses, writes docs/measurements/diagnose.md; an hour
	$(BIN)/python tests/captures/record.py out/captures --kernel $(KERNEL)
	$(BIN)/python pages/write_diagnose.py out/captures --kernel $(KERNEL)

build: $(EXTENSION) $(NET) ## the Python package with its Rust core and airtcp-net, in .venv

test: build $(DEV_READY) ## the tests in Rust and Python, and the stub against the binary; long ones are of check-long
	$(RUST_TESTS) cargo test --profile local --workspace $(BPF_FEATURES)
	$(BIN)/pytest --numprocesses auto --dist loadfile
	$(BIN)/python -m mypy.stubtest airtcp._core
	$(NAME_SKIPPED)
	@echo "make test: all passed"

real: build ## the tests on real packets, a part of `make test`, and one verification; names what is skipped here
	$(RUST_TESTS) cargo test --quiet --profile local --workspace $(BPF_FEATURES) $(REAL_TESTS)
	$(NAME_SKIPPED)
	.ci/verify

bench: tools ## packets a second, compared with ns-3 and ns-2 where they are installed
	$(PYTHON) benches/run.py

count: tools ## instructions a packet and a slot; fails where the lossy pipe or a cell takes over 2 % more than recorded
	$(PYTHON) benches/instructions.py --check

site: site-pages | tools ## docs/ as a site with the lab for browsers, in out/site
	$(if $(has_wasm),PYTHONPATH=python $(BIN)/python packaging/lab_page.py --out out/site/lab,\
	  @echo "site: SKIPPED: there is no lab in it: rustup target add $(WASM)" >&2)

site-pages: $(SITE_READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# In the profile of the build, which has compiled the macros already. The fuzz targets are checked
# against no libFuzzer, whose C++ would be compiled otherwise.
lint: ## formatting, clippy, also without std and of fuzz targets, ruff, mypy, comments' columns, advisories, licences, the site's links
	@$(MAKE) --no-print-directory --jobs 2 lint-rust lint-python

lint-rust: | tools
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --profile local --workspace --all-targets $(BPF_FEATURES) -- -D warnings
	$(if $(has_bare),cargo clippy --profile local --target $(BARE) $(BARE_CRATES) -- -D warnings,\
	  @echo "lint: SKIPPED: nothing is built without std: rustup target add $(BARE)" >&2)
	CUSTOM_LIBFUZZER_PATH=unlinked/libfuzzer.a cargo clippy --profile local \
	  --manifest-path fuzz/Cargo.toml --locked --target-dir target --bins -- -D warnings
	.ci/columns

# Most of it needs one processor, as most of clippy does.
lint-python: $(DEV_READY) | tools
	@$(MAKE) --no-print-directory site-pages
	$(BIN)/python packaging/dependencies.py
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

wheel: $(WHEEL_READY) ## the wheel in dist/, whole: core, airtcp-net, scenarios, papers; then tried in a fresh environment
	rm -f dist/airtcp-*.whl
	$(BIN)/python packaging/wheel.py $(WHEEL_FLAGS)
	$(BIN)/twine check --strict dist/*.whl
	$(BIN)/python packaging/try_wheel.py dist/*.whl

release: build $(WHEEL_READY) ## wheels, packages, images and gateways for x86-64 and aarch64 in dist/release, each tried in a clean root; hours, as root
	$(BIN)/python packaging/release.py; status=$$?; \
	  $(BIN)/python pages/write_release.py dist/release && exit $$status

check-long: build $(DEV_READY) ## two hours: new cases, mutants, fuzzers, programs hidden, little processor time; LONG="--times 10 fuzz" draws more
	$(BIN)/python tests/long.py $(LONG)

docs: tools ## the Rust documentation, in target/doc
	cargo doc --workspace --no-deps

clean: ## remove what was built
	rm -rf $(VENV) out target/wheels python/airtcp/_core*.so
	cargo clean

tools:
	@command -v cargo >/dev/null || { echo "Rust is missing: install rustup (apt install rustup), then run: rustup default stable" >&2; exit 1; }
	@command -v cc >/dev/null || { echo "A C compiler is missing: apt install gcc" >&2; exit 1; }
	@command -v $(PYTHON) >/dev/null || { echo "Python is missing: apt install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11: install Python 3.11 or later, or name one: make PYTHON=python3.12" >&2; exit 1; }

$(MATURIN): | tools
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "Python's venv module is missing: apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(shell grep ^maturin $(PINNED)/airtcp.txt)

$(READY): $(PINNED)/airtcp.txt | $(MATURIN)
	$(PIP) --requirement $(PINNED)/airtcp.txt
	touch $@

$(DEV_READY): $(PINNED)/dev.txt $(READY)
	$(PIP) --requirement $(PINNED)/dev.txt
	touch $@

$(SITE_READY): $(PINNED)/docs.txt $(READY)
	$(PIP) --requirement $(PINNED)/docs.txt
	touch $@

$(WHEEL_READY): $(PINNED)/wheel.txt | $(MATURIN)
	$(PIP) --requirement $(PINNED)/wheel.txt
	touch $@

$(COMPILED): $(RUST_SOURCES) $(BPF_SOURCES) pyproject.toml | $(MATURIN)
	$(DEVELOP) --skip-install
	touch $@

$(FEATURES): asked | $(MATURIN)
	@packaging/features $@

$(EXTENSION): $(RUST_SOURCES) $(BPF_SOURCES) $(PINNED)/airtcp.txt pyproject.toml | $(MATURIN)
	@$(MAKE) --no-print-directory --jobs 2 $(READY) $(COMPILED)  # pip while cargo builds
	$(DEVELOP)
	touch $@

# After the extension, whose crates it shares: two builds at once would take their turns.
$(BIN)/airtcp-net: $(EXTENSION) $(FEATURES)
	cargo build --quiet --profile local --package airtcp-net $$(cat $(FEATURES))
	install $(BUILT)/local/airtcp-net $@
