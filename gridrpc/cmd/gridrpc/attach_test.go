package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// command runs gridrpc for the platform, and returns what it printed on both streams.
func (p *trial) command(args ...string) (out, errs string, err error) {
	var o, e bytes.Buffer
	cmd := exec.Command(built().gridrpc, append([]string{args[0], "--dir", p.dir}, args[1:]...)...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// lineWith returns the first line that has a text.
func lineWith(t *testing.T, r *bufio.Reader, text string) string {
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err, "waiting for %q", text)
		if strings.Contains(line, text) {
			return line
		}
	}
}

// gone waits until a call is not kept any more.
func (p *trial) gone(ctx context.Context, c *gridrpc.Client, id string) {
	for {
		s, err := gridrpc.Attach[json.RawMessage](ctx, c, id, gridrpc.Patience(time.Nanosecond))
		if err == nil {
			_, err = s.Wait(ctx)
		}
		if errors.Is(err, gridrpc.ErrGone) {
			return
		}
		require.NoError(p.t, ctx.Err(), "the call is still kept; the latest answer: %v", err)
	}
}

// TestClientKilled: a client is killed during its call, and another process gets the right answer,
// before the body has ended and later. The list names kept calls with their identifiers.
func TestClientKilled(t *testing.T) {
	p := startTrial(t, "--tree", "2x1", "--no-restart")
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe+"-1", 0o600))
	in, err := json.Marshal(pipe)
	require.NoError(t, err)
	caller := exec.Command(built().gridrpc, "call", "--dir", p.dir, "--watch", "--keep", "1h", "relay", string(in))
	told, err := caller.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, caller.Start())
	eventLog := bufio.NewReader(told)
	words := strings.Fields(lineWith(t, eventLog, "is kept for"))
	id := words[len(words)-1]
	lineWith(t, eventLog, "progress")
	require.NoError(t, caller.Process.Kill())
	_, _ = io.Copy(io.Discard, eventLog)
	require.Error(t, caller.Wait())

	attached := exec.Command(built().gridrpc, "attach", "--dir", p.dir, "--watch", id)
	var answer bytes.Buffer
	attached.Stdout = &answer
	told, err = attached.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, attached.Start())
	eventLog = bufio.NewReader(told)
	lineWith(t, eventLog, "progress")
	out, _, err := p.command("attach")
	require.NoError(t, err)
	assert.Contains(t, out, id)
	assert.Contains(t, out, "runs")
	require.NoError(t, os.WriteFile(pipe+"-1", []byte("go"), 0o600))
	_, _ = io.Copy(io.Discard, eventLog)
	require.NoError(t, attached.Wait())
	assert.Contains(t, answer.String(), `"Attempt":1`)

	again, _, err := p.command("attach", id)
	require.NoError(t, err)
	assert.Equal(t, answer.String(), again)
	out, _, err = p.command("attach")
	require.NoError(t, err)
	assert.Contains(t, out, "has ended")
	_, _, err = p.command("attach", "--cancel", id)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	p.gone(ctx, p.dial(), id)
}

// TestClientInterrupted: an interrupt of the command leaves a kept call to its server.
func TestClientInterrupted(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--no-restart")
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe+"-1", 0o600))
	caller := exec.Command(built().gridrpc, "call", "--dir", p.dir, "--watch", "--keep", "1h", "relay", fmt.Sprintf("%q", pipe))
	told, err := caller.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, caller.Start())
	eventLog := bufio.NewReader(told)
	words := strings.Fields(lineWith(t, eventLog, "is kept for"))
	lineWith(t, eventLog, "progress")
	require.NoError(t, caller.Process.Signal(os.Interrupt))
	lineWith(t, eventLog, "context canceled")
	_, _ = io.Copy(io.Discard, eventLog)
	require.Error(t, caller.Wait())
	require.NoError(t, os.WriteFile(pipe+"-1", []byte("go"), 0o600))
	out, errs, err := p.command("attach", words[len(words)-1])
	require.NoError(t, err, errs)
	assert.Contains(t, out, `"Attempt":1`)
}

// TestKeptOver: after its time a kept call is removed completely.
func TestKeptOver(t *testing.T) {
	longtest.Skip(t, "a result that outlives its client")
	p := startTrial(t, "--tree", "1x1", "--no-restart")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	c := p.dial()
	n := 100_000
	s, err := gridrpc.Service[int, string](c, "text").Go(ctx, &n, gridrpc.Keep(300*time.Millisecond))
	require.NoError(t, err)
	out, err := s.Wait(ctx)
	require.NoError(t, err)
	assert.Len(t, *out, n)
	p.gone(ctx, c, s.ID())
	require.Eventually(t, func() bool {
		left, err := filepath.Glob(filepath.Join(p.dir, "store", "kept", "*", "*"))
		return err == nil && len(left) == 0
	}, within, 10*time.Millisecond)
	_, errs, err := p.command("attach", s.ID())
	require.Error(t, err)
	assert.Contains(t, errs, gridrpc.ErrGone.Error())
	_, errs, err = p.command("attach", "123")
	require.Error(t, err)
	assert.Contains(t, errs, "32 hexadecimal digits")
	_, err = gridrpc.Service[int, string](c, "text").Call(ctx, &n, gridrpc.Keep(8*24*time.Hour))
	assert.ErrorContains(t, err, "168h")
}

// TestKeptInStore: a large result is in the store: it outlives its client and its server. A small
// one ends with its server.
func TestKeptInStore(t *testing.T) {
	p := startTrial(t, "--tree", "1x1")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	ids := map[int]string{}
	for _, n := range []int{10, 100_000} {
		c, err := gridrpc.Dial(ctx, "")
		require.NoError(t, err)
		s, err := gridrpc.Service[int, string](c, "text").Go(ctx, &n, gridrpc.Keep(time.Hour))
		require.NoError(t, err)
		_, err = s.Wait(ctx)
		require.NoError(t, err)
		ids[n] = s.ID()
		c.Close()
	}
	held := filepath.Join(p.dir, "store", "kept", "s1", ids[100_000]+"-1")
	require.Eventually(t, func() bool { _, err := os.Stat(held); return err == nil }, within, time.Millisecond)
	p.signal("s1", syscall.SIGKILL)
	p.until("s1 to be back", func() bool { return strings.Count(p.eventLog.String(), "s1: has the parent a1") == 2 })
	c := p.dial()
	s, err := gridrpc.Attach[string](ctx, c, ids[100_000])
	require.NoError(t, err)
	out, err := s.Wait(ctx)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("x", 100_000), *out)
	p.gone(ctx, c, ids[10])
	_, errs, err := p.command("attach", ids[100_000])
	require.Error(t, err, "it was called in gob, and the command reads JSON")
	assert.Contains(t, errs, "gob")
	require.NoError(t, os.WriteFile(held, []byte("{}\n"), 0o600))
	s, err = gridrpc.Attach[string](ctx, c, ids[100_000])
	require.NoError(t, err)
	_, err = s.Wait(ctx)
	assert.ErrorIs(t, err, gridrpc.ErrGone, "a torn result is not returned")
	require.Eventually(t, func() bool { _, err := os.Stat(held); return os.IsNotExist(err) }, within, time.Millisecond)
}

// TestAgentsForgetNothing: a client stays attached to a kept call while all agents are killed. The
// restarted master learns of the call from the servers.
func TestAgentsForgetNothing(t *testing.T) {
	p := startTrial(t, "--tree", "1x1")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	c := p.dial()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe+"-1", 0o600))
	begun := make(chan bool, 1)
	first, err := gridrpc.Service[string, where](c, "relay").Go(ctx, &pipe, gridrpc.Keep(time.Hour), gridrpc.Watch(func(e gridrpc.Event) {
		if e.What == gridrpc.Progressed {
			begun <- true
		}
	}))
	require.NoError(t, err)
	<-begun
	p.signal("ma", syscall.SIGKILL)
	p.signal("a1", syscall.SIGKILL)
	p.until("s1 to have a parent", func() bool {
		_, later, ok := strings.Cut(p.eventLog.String(), "ma died")
		return ok && strings.Contains(later, "s1: has the parent")
	})
	second := p.dial()
	s, err := gridrpc.Attach[where](ctx, second, first.ID(), gridrpc.Patience(within))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(pipe+"-1", []byte("go"), 0o600))
	for _, one := range []*gridrpc.Session[where]{first, s} {
		out, err := one.Wait(ctx)
		if assert.NoError(t, err) {
			assert.Equal(t, "s1 1", fmt.Sprint(out.Server, " ", out.Attempt))
		}
	}
}
