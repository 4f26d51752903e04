# Verbs only: each recipe is one short command or a script in tools/ that can
# be called directly. "make help" lists them.

SEED ?= 1
PKG  ?= ./...
GO   ?= go
export GOFLAGS += -buildvcs=false

.DEFAULT_GOAL := help
.PHONY: help build test race lint fuzz generate generate-check e2e demo web ci \
        train-react bench-numerics bench-sandbox soak lab-react lab-group lab-gaming \
        admit train-codefix bench-server avx512 arm64

help: ## list the verbs
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

build: ## build bin/proctor and bin/trainer
	tools/build.sh

test: ## everything that must hold, from formatting to the browser (installs what is missing)
	tools/test.sh

race: ## the tests of PKG under the race detector
	$(GO) test -race -shuffle=on $(PKG)

lint: ## gofumpt, staticcheck and golangci-lint (builds the linters the first time)
	tools/lint.sh

fuzz: ## each fuzz target for FUZZTIME (10s)
	tools/fuzz.sh $(or $(FUZZTIME),10s)

generate: ## rewrite generated code from its sources
	tools/generate.sh

generate-check: ## fail if generated code differs from its sources
	tools/generate.sh --check

e2e: build ## the browser test: a page watched during a real training run
	tools/e2e.sh

demo: ## train from nothing and show the reward climb (SEED=n)
	tools/demo.sh $(SEED)

train-react: build ## the full react recipe (SEED=n)
	tools/train.sh react $(SEED)

bench-numerics: ## speed of the numeric core beside gonum, OpenBLAS and PyTorch (WRITE=1 rewrites the report)
	tools/bench-numerics.sh $(if $(WRITE),--write)

avx512: ## the numeric tests on an emulated processor with AVX-512 (minutes)
	tools/avx512.sh

arm64: ## the numeric tests as arm64 programs, in an emulator (minutes)
	tools/arm64.sh

train-codefix: build ## the code-repair recipe (SEED=n)
	tools/train.sh codefix $(SEED)

bench-sandbox: ## latency and throughput of graded runs
	tools/bench-sandbox.sh

soak: ## ten thousand runs in the sandbox, and what they leave behind (RUNS=n)
	$(GO) test ./internal/sandbox -run 'TestSoak$$' -count=1 -timeout 3h -v -args -soak $(or $(RUNS),10000)

bench-server: ## steps a second through the server, beside the env alone
	tools/bench-server.sh

admit: ## the admission gate over every built-in code task (minutes)
	PROCTOR_ADMIT=all $(GO) test ./envs/codefix -run Admission -count=1 -timeout 3h -v

lab-react: build ## exercise: the ReAct loop, step by step
	bin/trainer lab react

lab-group: build ## exercise: four rollouts of one task and their advantages
	bin/trainer lab group

lab-gaming: ## exercise: editable tests get edited, protected ones do not (SEED=n, SEEDS=runs)
	tools/lab-gaming.sh $(SEED) $(or $(SEEDS),1)

web: ## check the page's scripts: types, unit tests
	tools/web.sh

ci: generate-check lint test ## what a release must pass
