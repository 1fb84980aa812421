// Endure repeats the same work, under deaths (only soak without), and checks every result. Each
// command is a folder, whose comment describes its work and its checks. The exit code is 0 only if
// all results were right; a wrong result is printed with the flags that repeat its run.
//
//	go run ./stress/endure                        # the list
//	go run ./stress/endure kill -h                # the flags of one
//	go run ./stress/endure kill -kills 100 -seed 7
//	goulfm run -n 8 ./stress/endure agree -agreements 20000
package main

import (
	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/goulfm/goulfm/stress/endure/agree"
	"github.com/goulfm/goulfm/stress/endure/day"
	"github.com/goulfm/goulfm/stress/endure/heat"
	"github.com/goulfm/goulfm/stress/endure/kill"
	"github.com/goulfm/goulfm/stress/endure/long"
	"github.com/goulfm/goulfm/stress/endure/replace"
	"github.com/goulfm/goulfm/stress/endure/shrink"
	"github.com/goulfm/goulfm/stress/endure/soak"
)

var commands = []cli.Command{
	{Name: "kill", Does: "jobs that use everything at random, while ranks are killed", Main: kill.Main},
	{Name: "heat", Does: "the heat example under kills, against its result without", Main: heat.Main},
	{Name: "shrink", Does: "from N processes to one, by kills, revocations and shrinks", Main: shrink.Main},
	{Name: "replace", Does: "processes are killed and replaced by Spawn and Merge", Main: replace.Main},
	{Name: "long", Does: "jobs of day until they reach the numbers of the paper's day; resumable", Main: long.Main},
	{Name: "agree", Job: true, Does: "agreements, while ranks kill themselves", Main: agree.Main},
	{Name: "day", Job: true, Does: "agreements without a pause, while ranks die and are replaced: the paper's day", Main: day.Main},
	{Name: "soak", Job: true, Does: "agreements and communicators in numbers: nothing may grow", Main: soak.Main},
}

func main() {
	cli.Commands("stress/endure", "Repeats under deaths, and checks every result.", commands)
}
