package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/eventlog"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestNothingOutlivesUp: "gridrpc up" is killed, and all its processes end: also servers that wait
// for the platform's stopped store, and a server with a program that hangs before it serves.
func TestNothingOutlivesUp(t *testing.T) {
	longtest.Skip(t, "processes end after their platform")
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

// outlived is a "gridrpc up" that will be killed. Its processes share its output, which ends when
// all of them have ended.
type outlived struct {
	t        *testing.T
	up       *exec.Cmd
	eventLog *eventlog.Log
	ended    chan struct{} // closed at the end of the output
}

func startUp(t *testing.T, args ...string) *outlived {
	p := newTrial(t)
	t.Setenv(gridrpc.EnvDir, p.dir)
	u := &outlived{t: t, up: exec.Command(built().gridrpc, append(append([]string{"up", "--dir", p.dir}, args...), built().trial)...), eventLog: eventlog.New(), ended: make(chan struct{})}
	out, err := u.up.StdoutPipe()
	require.NoError(t, err)
	u.up.Stderr = u.up.Stdout
	require.NoError(t, u.up.Start())
	go func() { defer close(u.ended); u.eventLog.Read(out, nil) }()
	return u
}

// await waits until the output has a text.
func (u *outlived) await(text string) {
	found := u.eventLog.Until(within, func() bool { return strings.Contains(u.eventLog.String(), text) })
	require.True(u.t, found, "waiting for %q; the event log:\n%s", text, u.eventLog)
}

func (u *outlived) signal(s syscall.Signal, names ...string) {
	for _, name := range names {
		require.NoError(u.t, syscall.Kill(u.eventLog.PID(name), s), name)
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
		for _, pid := range u.eventLog.PIDs() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	<-u.ended
	assert.True(u.t, late.Stop(), "some process has outlived it for %v; the event log:\n%s", outliveMax, u.eventLog)
	u.t.Logf("killed to the end of all others: %v", time.Since(begun).Round(time.Millisecond))
	_ = u.up.Wait()
}
