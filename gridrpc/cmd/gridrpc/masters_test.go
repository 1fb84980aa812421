package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

var rootLine = regexp.MustCompile(`(?m)^(\S+): is the root, of term \d+$`)

// nextRoot waits for the n-th root, and returns its name.
func (p *trial) nextRoot(n int) (name string) {
	p.until("a root", func() bool {
		all := rootLine.FindAllStringSubmatch(p.eventLog.String(), -1)
		if len(all) >= n {
			name = all[len(all)-1][1]
		}
		return len(all) >= n
	})
	return name
}

// reigns returns the number of roots so far.
func (p *trial) reigns() int { return len(rootLine.FindAllString(p.told(), -1)) }

// served waits until a new client finds servers, and returns the time.
func (p *trial) served(ctx context.Context) time.Duration {
	begun := time.Now()
	for {
		c, err := gridrpc.Dial(ctx, "")
		if err == nil {
			offers, err := c.Offers(ctx)
			c.Close()
			if err == nil && len(offers) > 0 {
				return time.Since(begun)
			}
		}
		require.NoError(p.t, ctx.Err(), "nobody serves: %v", err)
	}
}

// TestMastersKilled: the root among three masters is killed, and another master becomes the root.
// That one is stopped, and the third becomes the root. When the stopped master resumes, it is no
// longer the root. Calls succeed all the time.
func TestMastersKilled(t *testing.T) {
	p := startTrial(t, "--masters", "3", "--tree", "2x1", "--detect", "1s")
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	for _, text := range []string{"a1: has the parent ma", "a2: has the parent ma", "s1: has the parent a1", "s2: has the parent a2"} {
		p.await(text)
	}
	list, err := discovery.Masters(p.dir)
	require.NoError(t, err)
	assert.Len(t, list, 3)
	calls := startTraffic(t, p.dial())
	before := p.reigns()
	first := p.nextRoot(before)
	p.signal(first, syscall.SIGKILL)
	t.Logf("kill -9 of the root to a new client that is served: %v", p.served(ctx).Round(time.Millisecond))
	second := p.nextRoot(before + 1)
	assert.NotEqual(t, first, second)

	if testing.Short() {
		calls.end()
		return
	}
	p.until(first+" to be started anew", func() bool { return strings.Count(p.eventLog.String(), first+" is process") == 2 })
	before = p.reigns()
	second = p.nextRoot(before)
	p.signal(second, syscall.SIGSTOP)
	third := p.nextRoot(before + 1)
	assert.NotEqual(t, second, third)
	t.Logf("served again: %v", p.served(ctx).Round(time.Millisecond))
	p.signal(second, syscall.SIGCONT)
	p.await(second + ": is the root no more")
	require.Eventually(t, func() bool {
		root, err := p.dial().Describe(ctx)
		text := shape(root)
		return err == nil && strings.Contains(text, "a1(s1)") && strings.Contains(text, "a2(s2)")
	}, within, 50*time.Millisecond)
	calls.end()
}

// TestServing: once "gridrpc up" reports "serving" there is a root, and a client finds a server.
func TestServing(t *testing.T) {
	p := startTrial(t, "--masters", "3", "--tree", "1x1")
	before, _, _ := strings.Cut(p.told(), "serving in")
	assert.Regexp(t, rootLine, before)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	offers, err := p.dial().Offers(ctx)
	require.NoError(t, err)
	assert.NotEmpty(t, offers)
}

// TestOnlyMasterStopped: "gridrpc up" detects that its only master is stopped, kills it and
// restarts it. A call meanwhile succeeds. Without restarts the master stays stopped, and "gridrpc
// up" reports that.
func TestOnlyMasterStopped(t *testing.T) {
	longtest.Skip(t, "the only master, stopped for seconds")
	p := startTrial(t, "--tree", "1x1")
	p.await("s1: has the parent a1")
	c := p.dial()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	begun := time.Now()
	p.signal("ma", syscall.SIGSTOP)
	p.await("ma has answered no probe")
	t.Logf("stopped to noticed: %v", time.Since(begun).Round(time.Millisecond))
	out, err := gridrpc.Service[float64, where](c, "square").Call(ctx, new(3.0))
	require.NoError(t, err)
	assert.Equal(t, 9.0, out.Value)
	t.Logf("stopped to the result of a call: %v", time.Since(begun).Round(time.Millisecond))
	assert.Equal(t, 2, strings.Count(p.told(), "ma is process"))

	p = startTrial(t, "--tree", "1x1", "--no-restart")
	p.signal("ma", syscall.SIGSTOP)
	p.await("ma has answered no probe")
	p.signal("ma", syscall.SIGCONT)
	_, err = p.dial().Offers(ctx)
	assert.NoError(t, err)
}

// TestHowManyMasters: two masters are refused, because they are no better than one.
func TestHowManyMasters(t *testing.T) {
	p := &trial{t: t, dir: t.TempDir()}
	require.NoError(t, os.Chmod(p.dir, 0o700))
	_, errs, err := p.command("up", "--masters", "2", built().trial)
	require.Error(t, err)
	assert.Contains(t, errs, "1, 3 or 5")
}
