#!/usr/bin/env bash
# Lists the packages whose test programs hold a costly check (must.Costly, or a file that is
# built with the tag invariants alone): for all others -tags invariants builds the same program
# again, and running it once more finds nothing.
#
# Left out, although they are above such a package: those that take only its words
# (era/onenode, internal/joblaunch/daemonproto), and those whose tests are about the processes around, not
# about the rules in them (launch, daemonclient, ...).
set -euo pipefail
cd "$(dirname "$0")/.."

checks=$(grep -rlE --include='*.go' 'must\.Costly|^//go:build.*invariants' . | grep -v '^./internal/base/must/' |
	xargs -n 1 dirname | sort -u | xargs go list | tr '\n' ' ')
go list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./comm/... ./collectives ./era/... ./fd/... ./recovery/... ./rma ./shmem ./internal/... |
	awk -v checks="$checks" '
	BEGIN { n = split(checks, check, " ") }
	$1 ~ /\.test$/ {
		for (i = 1; i <= n; i++) if (index($0 " ", " " check[i] " ")) { sub(/\.test$/, "", $1); print $1; next }
	}' | grep -vE '/(onenode|daemonproto|enginejob|bootauth|mutants.*|tidy|scaffold|launch|daemonclient|remotedaemon|daemon|faultproxy|membershiphost|hostlist|rm|pmi|transport/tcp)$'
