package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
)

// TestNothingOutlivesUp: "gridrpc up" is killed, and all its processes end: servers that wait for
// the platform's own store, which is stopped, and a server whose program hangs before it serves.
func TestNothingOutlivesUp(t *testing.T) {
	t.Run("store stopped", func(t *testing.T) {
		u := startUp(t, "--store", "jetstream", "--tree", "1x2")
		u.await("serving in")
		u.signal(syscall.SIGSTOP, "st1", "st2", "st3")
		u.signal(syscall.SIGKILL, "s1", "s2")
		u.await("s1 is process")
		u.await("s2 is process")
		u.end("st1", "st2", "st3")
	})
	t.Run("program hangs", func(t *testing.T) {
		t.Setenv("TRIAL_HANG", "1")
		u := startUp(t, "--tree", "1x1")
		u.await("hangs")
		u.end()
	})
}

// outlived is a "gridrpc up" that is about to be killed. Its processes share its output, which
// ends when all of them have ended.
type outlived struct {
	t     *testing.T
	up    *exec.Cmd
	lines *bufio.Scanner
	pids  map[string]int
	story bytes.Buffer
}

func startUp(t *testing.T, args ...string) *outlived {
	p := newTrial(t)
	t.Setenv(gridrpc.EnvDir, p.dir)
	u := &outlived{t: t, up: exec.Command(built().gridrpc, append(append([]string{"up", "--dir", p.dir}, args...), built().trial)...), pids: map[string]int{}}
	out, err := u.up.StdoutPipe()
	require.NoError(t, err)
	u.up.Stderr = u.up.Stdout
	require.NoError(t, u.up.Start())
	u.lines = bufio.NewScanner(out)
	return u
}

// next reads a line, and reports whether there was one.
func (u *outlived) next() bool {
	if !u.lines.Scan() {
		return false
	}
	fmt.Fprintln(&u.story, u.lines.Text())
	if m := pidLine.FindStringSubmatch(u.lines.Text()); m != nil {
		u.pids[m[1]], _ = strconv.Atoi(m[2])
	}
	return true
}

// await reads until a line has a text.
func (u *outlived) await(text string) {
	for u.next() {
		if strings.Contains(u.lines.Text(), text) {
			return
		}
	}
	require.Fail(u.t, "the output has ended", "waiting for %q; the story:\n%s", text, u.story.String())
}

func (u *outlived) signal(s syscall.Signal, names ...string) {
	for _, name := range names {
		require.NoError(u.t, syscall.Kill(u.pids[name], s), name)
	}
}

// outliveMax only finds processes that do not end by themselves: half the time for which a server
// waits for a store.
const outliveMax = 30 * time.Second

// end kills "gridrpc up" and the processes that are stopped, and waits for the end of all others.
func (u *outlived) end(stopped ...string) {
	begun := time.Now()
	assert.NoError(u.t, u.up.Process.Kill())
	u.signal(syscall.SIGKILL, stopped...)
	late := time.AfterFunc(outliveMax, func() {
		for _, pid := range u.pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	for u.next() {
	}
	assert.True(u.t, late.Stop(), "some process has outlived it for %v; the story:\n%s", outliveMax, u.story.String())
	u.t.Logf("killed to the end of all others: %v", time.Since(begun).Round(time.Millisecond))
	_ = u.up.Wait()
}
