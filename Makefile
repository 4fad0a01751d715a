# What a developer runs. Only Go is needed, except for `make race` (a C compiler)
# and for `make interop` and `make conformance` (node, for what others have written).
# Tools are built at the versions below into .tools; nothing is installed outside.

MODULES  := . apps bench interop
SYSTEMS  := linux darwin windows
FUZZTIME ?= 20s
COVER    ?= 85
BASE     ?= HEAD^
# What counts for coverage: the packages users import and what those are made of.
SDK := ./jsonrpc ./mcp ./transport ./server ./client ./httpserver/... ./httpclient/... \
       ./host/... ./auth/... ./netguard ./internal/...

GOLANGCI_VERSION := v2.15.0
GOFUMPT_VERSION  := v0.12.0
TOOLS    := $(CURDIR)/.tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
GOFUMPT  := $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)

export GOTOOLCHAIN ?= local

# each runs a command in every module, goes on when one fails, and fails in the end.
each = @status=0; for m in $(MODULES); do echo "-- $$m: $(1)"; (cd $$m && $(1)) || status=1; done; exit $$status

# sources lists our Go files, without those kept as test data.
sources = find . \( -name '.?*' -o -name node_modules -o -name testdata \) -prune -o -name '*.go' -print

.PHONY: help
help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "make %-12s %s\n", $$1, $$2 }'

.PHONY: test
test: ## run the tests of every module
	$(call each,go test ./...)

.PHONY: race
race: ## run them under the race detector, in random order
	$(call each,go test -race -shuffle=on ./...)

.PHONY: test-all
test-all: test interop ## run the tests, the slow ones and those against other implementations

.PHONY: interop
interop: ## run the slow tests and those against other implementations (needs node)
	@if [ -x scripts/interop.sh ]; then FERRY_INTEROP=1 scripts/interop.sh; \
	else cd apps && echo "-- apps: FERRY_INTEROP=1 go test ./..." && FERRY_INTEROP=1 go test ./...; fi

.PHONY: conformance
conformance: ## run the official conformance suite against our server and client (needs node)
	@scripts/conformance.sh

.PHONY: lint
lint: tools ## check format, vet for every system, run the linters; all of it, then fail
	@status=0; for t in fmt-check vet golangci; do $(MAKE) --no-print-directory $$t || status=1; done; exit $$status

.PHONY: golangci
golangci: $(GOLANGCI)
	$(call each,$(GOLANGCI) run --config $(CURDIR)/.golangci.yml)

.PHONY: fmt
fmt: $(GOFUMPT) ## format the code
	@$(sources) | xargs $(GOFUMPT) -w

.PHONY: fmt-check
fmt-check: $(GOFUMPT)
	@echo "-- gofumpt"; out=$$($(sources) | xargs $(GOFUMPT) -l) && if [ -n "$$out" ]; then \
	echo "$$out"; echo "not formatted: run make fmt"; exit 1; fi

.PHONY: vet
vet:
	@status=0; for os in $(SYSTEMS); do for m in $(MODULES); do echo "-- $$m: GOOS=$$os go vet ./..."; \
	(cd $$m && CGO_ENABLED=0 GOOS=$$os go vet ./...) || status=1; done; done; exit $$status

.PHONY: bench
bench: ## measure against the floor and others, write docs/benchmarks.md (12 minutes)
	cd bench && go run ./drive -allocs -rounds 5 -time 400ms -warm 200ms -page ../docs

.PHONY: bench-quick
bench-quick: ## the same in two minutes, printed only
	cd bench && go run ./drive -quick

.PHONY: bench-sweeps
bench-sweeps: ## measure the curves of docs/benchmarks.md (15 minutes)
	cd bench && go run ./drive -sweeps -rounds 2 -time 300ms -warm 100ms -page ../docs

.PHONY: cost
cost: ## fail when requests allocate over 5 percent more than at BASE (the previous commit)
	cd bench && go run ./regress -base $(BASE)

.PHONY: microbench
microbench: ## run the benchmarks among the tests
	$(call each,go test -run '^$$' -bench . -benchmem ./...)

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (20s)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz.sh $(MODULES)

.PHONY: cover
cover: ## measure the coverage of the SDK, fail below COVER (85) percent
	@COVER=$(COVER) scripts/cover.sh $(SDK)

.PHONY: trace
trace: ## write docs/requirements.md: what the tests prove
	@scripts/trace.sh

.PHONY: trace-check
trace-check: ## fail when a requirement that was proven no longer is
	@scripts/trace.sh -check

.PHONY: build
build: ## build the static binary bin/ferry
	cd apps && CGO_ENABLED=0 go build -trimpath -tags grpcnotrace -o ../bin/ ./cmd/ferry

.PHONY: tools
tools: $(GOLANGCI) $(GOFUMPT) ## build the pinned tools into .tools

.PHONY: clean
clean: ## remove what make built
	rm -rf bin .tools cover.out

$(GOLANGCI):
	@scripts/tool.sh $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

$(GOFUMPT):
	@scripts/tool.sh $@ mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
