package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestResultIsPrinted: the rank that is about to print the result of a program is killed, after all
// others have their part of the result. If the job ends with code 0, the result must have been
// printed.
func TestResultIsPrinted(t *testing.T) {
	for program, c := range map[string]struct {
		args, kill, result string
		survives           bool // the death of rank 0
	}{
		"circle":      {"", "0@report=1", `(?m)^3 ranks: \d+ points, pi is about 3\.1415`, true},
		"hashtable":   {"-keys 20000", "0@report=1", `(?m)^hashtable: 20000 keys, .*: all there$`, true},
		"sieve":       {"-below 100000", "0@report=1", `(?m)^sieve: 9592 primes below 100000,`, true},
		"byhand/heat": {"-nx 32 -ny 32 -steps 20", "0@report=20", `(?m)^result: steps=20 `, true},
		"heat":        {"-nx 32 -ny 32 -steps 20", "0@report=20", `(?m)^result: steps=20 `, true},
		"abft":        {"-n 24", "0@report=1", `(?m)^result: n=24 `, true},
		"ensemble":    {"-tasks 20 -points 1000", "0@report=1", `(?m)^result: inside=\d+`, true},
		"minife":      {"-steps 2", "0@report=1", `(?m)^result: steps=2 `, true},
		"s3d":         {"-steps 2", "0@report=1", `(?m)^result: steps=2 `, true},
		"train":       {"-steps 20", "0@report=1", `(?m)^result: steps=20 `, true},
		"bagoftasks":  {"-tasks 20 -points 1000", "0@report=1", `(?m)^result: pi=3\.14159`, false},
		"ring":        {"", "0@report=1", `(?m)^ring: 4 ranks`, false},
	} {
		t.Run(program, func(t *testing.T) {
			if program != "heat" && program != "ring" {
				longtest.Skip(t, "compiles an example")
			}
			binary := build(t, "../../examples/"+program)
			args := append([]string{"run", "-n", "4", "--timeout", "90s", "--kill", c.kill, binary}, strings.Fields(c.args)...)
			got := goulfmCommand(t, "", args...)
			assert.Contains(t, got.err, "rank 0", "the kill has happened")
			assert.Equal(t, c.survives, got.code == 0, "code %d\n%s%s", got.code, got.out, got.err)
			if got.code == 0 {
				assert.Regexp(t, c.result, got.out, got.err)
			}
		})
	}
}
