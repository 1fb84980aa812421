package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/sandbox"
)

// summing does not use gridrpc: it adds the numbers of its input, and stores them in a file. Each
// line takes a process.
const summing = `#!/bin/sh
echo it begins >&2
sum=0
while read n; do
	sum=$((sum + n))
	echo $n >> numbers
	echo $sum
	sleep 0.02
done
echo $(wc -l < numbers) numbers, $(ls $1)
if touch /usr/here 2> /dev/null || ls /home > /dev/null 2>&1; then echo it got out; fi
`

// needsRunsc skips a test without sandboxes.
func needsRunsc(t *testing.T) {
	runsc := os.Getenv(sandbox.EnvRunsc)
	if runsc == "" {
		runsc = "runsc"
	}
	if _, err := exec.LookPath(runsc); err != nil {
		t.Skipf("%v: \"make runsc\" builds it, and %s says where it is", err, sandbox.EnvRunsc)
	}
}

// commandsWith returns the command lines that contain a text.
func commandsWith(t *testing.T, text string) (found []string) {
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range all {
		if line, _ := os.ReadFile(path); strings.Contains(string(line), text) { // it may have ended
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// TestProgramInSandbox: a shell script is a service. Its server is killed once there is an image,
// and the sandbox ends with it. The script continues at another server from the last image: it has
// begun once, and its output is complete.
func TestProgramInSandbox(t *testing.T) {
	needsRunsc(t)
	script := filepath.Join(t.TempDir(), "summing")
	require.NoError(t, os.WriteFile(script, []byte(summing), 0o700))
	p := newTrial(t)
	p.start(nil, "--tree", "1x2", "--no-restart", "--program", "sum="+script+" {dir}", "--image-every", "500ms")
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	const lines = 120
	var in, want strings.Builder
	for i, sum := 1, 0; i <= lines; i++ {
		sum += i
		fmt.Fprintln(&in, i)
		fmt.Fprintln(&want, sum)
	}
	fmt.Fprintf(&want, "%d numbers, numbers\n", lines)
	var resumed, killed string
	var took time.Time
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		switch {
		case e.What == gridrpc.Submitted && e.Attempt == 2:
			resumed = e.Text
		case e.What == gridrpc.Began && e.Attempt == 2:
			t.Logf("lost to begun elsewhere: %v", time.Since(took).Round(time.Millisecond))
		case e.What == gridrpc.Checkpointed && e.Attempt == 1:
			if killed == "" {
				killed, took = e.Server, time.Now()
				p.signal(killed, syscall.SIGKILL)
			}
		}
	})
	text := in.String()
	out, err := gridrpc.Service[string, string](p.dial(), "sum", gridrpc.InCodec(gridrpc.JSON)).Call(ctx, &text, watch)
	require.NoError(t, err)
	assert.Equal(t, want.String(), *out)
	assert.Contains(t, resumed, "from checkpoint")
	assert.Equal(t, 1, strings.Count(p.told(), "it begins"))
	require.Eventually(t, func() bool { return len(commandsWith(t, filepath.Join(p.dir, "work", killed))) == 0 }, within, 5*time.Millisecond)
}

// TestProgramFails: the caller receives the output and the exit code of a program.
func TestProgramFails(t *testing.T) {
	needsRunsc(t)
	script := filepath.Join(t.TempDir(), "failing")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho no such case >&2\nexit 7\n"), 0o700))
	p := newTrial(t)
	p.start(nil, "--tree", "1x1", "--no-restart", "--program", "fail="+script)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	_, err := gridrpc.Service[string, string](p.dial(), "fail").Call(ctx, new(""))
	require.ErrorIs(t, err, gridrpc.ErrService)
	assert.ErrorContains(t, err, "exit status 7: no such case")
}
