# Everything a person or a CI job runs. `make` alone lists it.

export CGO_ENABLED ?= 0

RANKS   ?= 8
FUZZFOR ?= 10s
SIM     ?=
SIMNODES ?=
# Rules and words have no goroutine, nor has what reads source: the race detector would only make them slower.
RULES := eventqueue|control|departure|firstfit|flood|golden|hostlist|inquiry|job|match|commstate|mono|must|commitinterval|rankset|redundancy|relayout|rendezvous|repair|rm|membership|sched|scaffold|mutants.*|session|sparse|spectable|tidy|waitgraph
# Thousands of broken connections, of schedules, of states, or of starts take minutes under it: fewer do.
RACESHORT ?= ./internal/net/transport/tcp ./internal/shm/nodecoll ./internal/protocol/robustlock ./internal/joblaunch/enginejob
RACE ?= ./comm/... ./collectives ./conformance ./rma ./shmem $(shell go list ./internal/... | grep -vE '/($(RULES)|nodecoll|transport/tcp|robustlock|enginejob|sim/.*)$$')
# They judge programs that they launch, which are built without the detector.
RACESKIP := OverProcesses|WaysToEnd|DeadlockIsReported
# The costly checks change nothing: a rule that is deterministic and has no goroutine runs in full only with
# them. The packages above such a check run in full both ways.
CHECKED ?= ./era ./era/twolevel ./fd ./internal/protocol/control ./internal/protocol/match ./internal/protocol/commstate ./internal/protocol/rendezvous ./internal/protocol/membership
COSTLY ?= $(shell scripts/costly.sh | grep -vxF "$$(go list $(CHECKED))")
# Tests that kill at a point (see internal/base/failpoint): the others are the same with it and without.
KILLTESTS := $(shell grep -rl --include='*_test.go' '^//go:build failpoints' internal)
# With its long tests cmd/goulfm runs more than a thousand jobs, two at a time: on busy cores longer than
# the ten minutes that go test gives a package. Each job has a limit of its own.
# Many tests wait, for other processes and for timers: three packages at a time keep two cores busy.
GOTEST := go test -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -shuffle=on -count=1 -timeout 30m
FIGURES ?=
SABOTAGE ?=
BENCH   ?=
COMPARE ?=
BASE    ?=
AB      ?=
ABTEST  ?=
STRESS  ?= -agreements 2000 -seed 1
KILLS   ?= -kills 200
SHRINKS ?= -rounds 200
REPLACES ?= -rounds 100
DAY     ?= -for 60s
ROUNDS  ?= 200
FOR     ?= 2m
SEED    ?=
RANDOM  ?=
GOLANGCI ?= go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.5.0

.DEFAULT_GOAL := help
.PHONY: demo runsc s3 check nightly test quick long vulns race lint fuzz sim sim-nodes sim-repairs sim-deep sabotage stress random pauses nodestress nodes netns netns-platform mixed engines site site-check snapshot bench ab ab-test compare figures help

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## heat on 8 processes, two of them killed on the way, the right answer at the end; a check for leftovers
	@scripts/leaks.sh scripts/demo.sh $(RANKS)

check: ## what CI runs: test, long, race, lint, vulns, fuzz, a short sim, random, pauses, a short ab; docs/HACKING.md says how long it takes
	@scripts/gates.sh check

nightly: ## random runs with fresh seeds for some hours: sim, random, stress, fuzz, a death before every store
	@scripts/gates.sh nightly

test: ## format, vet, cross-builds, the tests of all packages without the long ones, a check for leftovers; about 5 minutes
	@scripts/leaks.sh $(MAKE) --no-print-directory quick

quick: # what test runs below the check for leftovers
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not gofmt-ed:"; echo "$$bad"; exit 1; fi
	go vet ./...
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go build ./...
	$(GOTEST) ./...
	cd gridrpc && go vet ./... && $(GOTEST) -short ./...

long: export GOULFM_LONG := 1
long: ## the remaining tests: the long ones, those with costly checks, deaths before each store, the modules of bench
	CHECKED="$(CHECKED)" scripts/long.sh $(GOTEST)
	go vet -tags invariants ./...
	$(GOTEST) -tags invariants $(CHECKED)
	$(GOTEST) -tags invariants -short $(COSTLY)
	go vet -tags failpoints ./...
	go vet -tags pausepoints ./...
	$(GOTEST) -tags failpoints -run "^($$(grep -hoE '^func Test\w+' $(KILLTESTS) | cut -c 6- | paste -sd '|' -))$$" $(addprefix ./,$(sort $(dir $(KILLTESTS))))
	cd bench/figures && go vet ./... && $(GOTEST) ./...
	cd bench/swim && go vet ./... && $(GOTEST) ./...
	cd stress/linear && go vet ./... && $(GOTEST) ./...
	cd docs/site && go vet ./... && $(GOTEST) ./...

race: export GOULFM_LONG := 1
race: ## the library's tests under the race detector (needs a C compiler); RACE=./... for all
	CGO_ENABLED=1 $(GOTEST) -race -skip '$(RACESKIP)' $(RACE)
	CGO_ENABLED=1 $(GOTEST) -race -short $(RACESHORT)
	CGO_ENABLED=1 $(GOTEST) -race -run 'Watchdog|SameSeed' ./internal/testing/sim/... # each world has one goroutine: what runs many has more

lint: ## golangci-lint, pinned, built on the spot (a minute, once); GOLANGCI=golangci-lint for an installed one; subjects of commits
	@scripts/subjects.sh
	$(GOLANGCI) run ./...
	cd gridrpc && $(GOLANGCI) run --config ../.golangci.yml ./...

runsc: ## gVisor's sandbox, for gridrpc/sandbox, into bin (some minutes, once)
	cd gridrpc/tools && go build -ldflags=-s -o ../../bin/runsc gvisor.dev/gvisor/runsc

s3: ## SeaweedFS into bin (some minutes, once), and gridrpc's checkpoints in it while its servers are killed
	cd gridrpc/tools/s3 && go build -ldflags=-s -o ../../../bin/weed github.com/seaweedfs/seaweedfs/weed
	cd gridrpc && GRIDRPC_WEED=$(CURDIR)/bin/weed go test -count=1 -v -timeout 30m -run '^(TestService|TestS3Service)' -bench '^BenchmarkService' -benchtime 20x ./store/s3 ./cmd/gridrpc

vulns: ## known vulnerabilities in what the code calls; code 77 where the database cannot be reached
	@scripts/vulns.sh

fuzz: ## every fuzz target for FUZZFOR=10s on one core
	@scripts/fuzz.sh $(FUZZFOR)

sabotage: ## plants bugs, one at a time, and shows that the simulator or a test finds each; SABOTAGE="-run A6"
	go run ./internal/testing/mutants/cmd $(SABOTAGE)

figures: ## the papers' figures from the shipped code, as CSV and SVG; FIGURES="-quick" or "-only ring4"
	cd bench/figures && go run . -table README.md $(FIGURES)

sim: ## a million simulated agreements with faults at any step, some minutes, and sim-nodes; SIM="-seed N" or "-replay N"
	go run ./cmd/goulfm sim -agreements-total 1000000 -deaths-total 150000 -matrix $(SIM)
	$(if $(filter -replay -run,$(SIM)),,go run ./cmd/goulfm sim -nodes 10000 $(SIMNODES))

sim-nodes: ## 10000 simulated jobs on several nodes, some minutes; SIMNODES="-seed N -nodes 100" or "-replay N"
	go run ./cmd/goulfm sim -nodes 10000 $(SIMNODES)

sim-repairs: ## a million repairs of simulated jobs whose ranks die and are replaced, some minutes; SIM="-seed N"
	go run ./cmd/goulfm sim -repairs 1000000 $(SIM)

sim-deep: ## every crash point and delivery order for 4 processes; minutes for each model
	go run ./cmd/goulfm sim -exhaustive -n 4

stress: ## real processes under kills, every result checked: agreements, everything, from N to one, and back, a minute of a day; STRESS="-seed N ..." KILLS="-kills 1000" SHRINKS="-rounds 1000" REPLACES="-rounds 1000" DAY="-for 1h"
	go build -o bin/goulfm ./cmd/goulfm
	bin/goulfm run -n $(RANKS) ./stress/endure agree $(STRESS)
	go run ./stress/endure kill -goulfm bin/goulfm -n $(RANKS) $(KILLS)
	go run ./stress/endure shrink -goulfm bin/goulfm $(SHRINKS)
	go run ./stress/endure replace -goulfm bin/goulfm $(REPLACES)
	bin/goulfm run -q -n $(RANKS) --spares 1 ./stress/endure day $(DAY)

random: ## ROUNDS=200 random programs under deaths over processes, and as many over goroutine ranks, every result checked; RANDOM="-seed N"
	go run ./stress/randprog -failpoints -rounds $(ROUNDS) $(RANDOM)
	go run ./stress/randprog -mode goroutines -rounds $(ROUNDS) $(RANDOM)

pauses: ## real programs whose processes pause between checks and their effects, outcomes compared; FOR=2m, SEED=N
	@FOR=$(FOR) SEED=$(SEED) scripts/pauses.sh

nodestress: ## random programs on several nodes of this machine: ranks and nodes killed, nodes that stand still, networks cut, every result checked; some 15 minutes; NODESTRESS="-rounds 100 -seed N"
	go run ./stress/randprog -mode nodes -rounds 1000 $(NODESTRESS)

nodes: ## jobs on several hosts by real ssh to this machine, nodes killed, wrong hosts tried; no sshd: code 77
	@scripts/nodes.sh

netns: ## jobs over networks of their own: a node killed, 5 of 100 packets lost, a node cut off; calls of GridRPC there; no namespaces or no nft: code 77
	@scripts/netns_jobs.sh
	@scripts/netns_calls.sh

netns-platform: ## a GridRPC platform on four machines, which are networks of their own: that of the root is lost under calls, twice; a minute; no namespaces: code 77
	@scripts/netns_platform.sh

mixed: ## launchers, daemons and ranks of this tree meet those of commit e872d31: each pair is refused within 10 s, by one clear line; a minute; without that commit in the history: code 77
	@scripts/mixed.sh

engines: ## examples under real Slurm, hydra and Open MPI: one node and several, ranks and nodes killed; root, else code 77
	@scripts/engines.sh

site: ## the documentation as HTML pages, which need no network, in bin/site
	cd docs/site && go run . -out ../../bin/site

site-check: ## the same, and every page opened in headless Chromium: light, dark, at the width of a phone; no Chromium or npm: code 77
	@scripts/site.sh

snapshot: ## the archives of a release in bin/dist, built twice and compared, with SBOM, notices, completion and man pages; some minutes
	@scripts/release.sh snapshot

bench: ## what messages, collectives, failures and a start cost here; BENCH="-time 50ms"
	go build -o bin/goulfm ./cmd/goulfm
	bin/goulfm run -q -n 2 ./bench/measure p2p $(BENCH)
	bin/goulfm run -q -n $(RANKS) ./bench/measure coll $(BENCH)
	bin/goulfm run -q -n $(RANKS) ./bench/measure ulfm
	go run ./bench/measure start

ab: ## the speed of this tree beside another revision, in alternating runs, some 6 minutes; BASE=REVISION, else that in bench/BASE; AB="-only shrink,detect -n 4,8"
	go run ./bench/ab $(if $(BASE),-base $(BASE)) $(AB)

ab-test: ## shows that make ab finds planted delays of 40 %, and nothing else, some 10 minutes on a quiet machine; ABTEST="-pairs 31"
	go test ./bench/ab -count=1 -run PlantedDelays -v -timeout 1h -args -long $(ABTEST)

compare: ## the same beside MPI libraries, as ratios, into bench/RESULTS.md; COMPARE="-quick -only p2p,coll -n 2"
	go run ./bench/compare $(COMPARE)
