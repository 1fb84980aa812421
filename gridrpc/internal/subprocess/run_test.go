package subprocess

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRunBeside: the function beside a process ends with the process and with the context. It is
// not called if the process does not start.
func TestRunBeside(t *testing.T) {
	over := false
	notStarted, ended := RunBeside(t.Context(), exec.Command("false"), func(ctx context.Context) {
		<-ctx.Done()
		over = true
	})
	assert.NoError(t, notStarted)
	assert.ErrorContains(t, ended, "exit status 1")
	assert.True(t, over)

	ctx, cancel := context.WithCancel(t.Context())
	notStarted, ended = RunBeside(ctx, exec.CommandContext(ctx, "sleep", "60"), func(lives context.Context) {
		cancel()
		<-lives.Done()
	})
	assert.NoError(t, notStarted)
	assert.Error(t, ended)

	notStarted, ended = RunBeside(t.Context(), exec.Command("/no/such/program"), func(context.Context) { t.Error("it runs beside nothing") })
	assert.Error(t, notStarted)
	assert.NoError(t, ended)
}
