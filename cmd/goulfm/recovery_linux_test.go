package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRecoveryOverProcesses: examples/heat has the same result whichever processes are killed,
// at whatever points of the program and of the repair, and with agreements by messages.
func TestRecoveryOverProcesses(t *testing.T) {
	const heat = "../../examples/heat"
	run := func(more ...string) (result, string) {
		args := append([]string{"run", "-n", "6", "--timeout", "60s"}, more...)
		r := goulfmCommand(t, "", append(args, heat, "-nx", "40", "-ny", "40", "-steps", "60", "-every", "5", "-print", "0")...)
		return r, strings.Split(r.out, "\n")[0]
	}
	r, want := run()
	assert.Equal(t, 0, r.code, r.err)
	assert.Regexp(t, "^result: steps=60 ", want)
	for _, plan := range []string{
		"--kill 3@step=40",
		"--kill 0@step=20",
		"--kill 0@step=20 --agree era",
		"--kill 0@step=20 --kill 1@step=20",
		"--kill 2@step=30 --kill 1@repair.shrink=1",
		"--kill 2@step=30 --kill 0@repair.replace=1",
		"--kill 2@step=30 --kill 0@repair.replace=1 --agree era",
		"--kill 2@step=30 --kill 1@restore.move=1",
		"--kill 0@step=30 --kill 6@step=45", // the newcomer, too
		"--kill 1@commit.send=2 --kill 3@commit.copy=4",
		"--kill 0@report=60",
	} {
		r, got := run(strings.Fields(plan)...)
		assert.Equal(t, 0, r.code, "%s\n%s", plan, r.err)
		assert.Equal(t, want, got, plan)
		assert.Regexp(t, regexp.MustCompile(`recovery: .*rank \d is served by process \d+`), r.err, plan)
	}
}
