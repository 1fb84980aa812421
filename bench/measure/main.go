// Measure measures the cost of messages, collectives, failures and a start, and the cost and the
// effects of the failure detector for a program without failures. Each command is a folder; its
// package comment describes the method. bench/compare runs the first commands beside MPI libraries.
//
//	go run ./bench/measure                       # the list
//	goulfm run -n 2 ./bench/measure p2p -h       # the flags of one
//	goulfm run -n 2 ./bench/measure p2p -ops latency -sizes 8,1K,1M
//	go run ./bench/measure start -n 2,16,64
package main

import (
	"github.com/goulfm/goulfm/bench/measure/agree"
	"github.com/goulfm/goulfm/bench/measure/busy"
	"github.com/goulfm/goulfm/bench/measure/coll"
	"github.com/goulfm/goulfm/bench/measure/detect"
	"github.com/goulfm/goulfm/bench/measure/failures"
	"github.com/goulfm/goulfm/bench/measure/massdeath"
	"github.com/goulfm/goulfm/bench/measure/noise"
	"github.com/goulfm/goulfm/bench/measure/p2p"
	"github.com/goulfm/goulfm/bench/measure/rma"
	"github.com/goulfm/goulfm/bench/measure/start"
	"github.com/goulfm/goulfm/bench/measure/ulfm"
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
)

var commands = []cli.Command{
	{Name: "p2p", Job: true, Does: "latency, bandwidth and rate of messages between two ranks", Main: p2p.Main},
	{Name: "coll", Job: true, Does: "collectives, blocking, or the part that a computation hides", Main: coll.Main},
	{Name: "ulfm", Job: true, Does: "a failure, phase by phase: detect, acknowledge, agree, shrink, revoke", Main: ulfm.Main},
	{Name: "rma", Job: true, Does: "one-sided operations between two ranks", Main: rma.Main},
	{Name: "start", Does: "a job that does nothing, from start to end", Main: start.Main},
	{Name: "agree", Job: true, Does: "agreements before, during and after a death", Main: agree.Main},
	{Name: "failures", Does: "agreements of real ranks after one or more failures", Main: failures.Main},
	{Name: "detect", Does: "from a SIGKILL until every survivor's receive has failed", Main: detect.Main},
	{Name: "massdeath", Does: "from the last of many deaths to one communicator of all survivors", Main: massdeath.Main},
	{Name: "noise", Does: "the cost of heartbeats in a job without failures", Main: noise.Main},
	{Name: "busy", Does: "whether a rank that computes for long is taken for dead", Main: busy.Main},
}

func main() { cli.Commands("bench/measure", "Measures the costs of goulfm.", commands) }
