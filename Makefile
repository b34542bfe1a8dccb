# Short names for what a change needs; .ci/run is what must hold before it is accepted.

GO ?= go
PKG ?= ./lab/... ./...

.PHONY: build test race fuzz lint explore bench ci

build: ## the command, as ./weft
	$(GO) build -o weft ./cmd/weft

test: ## every test that this machine can run
	$(GO) test $(PKG)

race: ## the tests with the race detector: make race PKG=./mpi
	$(GO) test -race $(PKG)

fuzz: ## each fuzz target for a moment: make fuzz PKG=./internal/engine/wire FUZZTIME=1m
	@for pkg in $$($(GO) list $(PKG)); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(or $(FUZZTIME),5000x) -fuzzminimizetime 1s $$pkg || exit 1; \
		done; \
	done

lint: ## go vet, staticcheck and others, as .ci/linter lists them
	.ci/lint

explore: ## looks for faults by chance: make explore BUDGET=60 (minutes)
	BUDGET=$(or $(BUDGET),60) .ci/explore

bench: ## the Go benchmarks; weftlab perf compares with other systems
	$(GO) test -run '^$$' -bench . -benchmem $(PKG)

ci: ## everything; at most twelve minutes on two processors
	.ci/run
