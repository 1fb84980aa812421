package main

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/ckptset"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/store"
)

// count and counted are as in the trial server.
type count struct {
	To    int
	Holds []int
}

type counted struct {
	Server  string
	Attempt int
	From    int
	Text    string
}

// ckpt runs "gridrpc ckpt" for the platform.
func (p *trial) ckpt(args ...string) string {
	out, err := exec.Command(built().gridrpc, append([]string{"ckpt", "--dir", p.dir}, args...)...).CombinedOutput()
	require.NoError(p.t, err, "%s", out)
	return string(out)
}

// TestGoesOnFromCheckpoint: two servers that run a call are killed, one after the other. The third
// one continues from the checkpoint, and no checkpoint is left afterwards.
func TestGoesOnFromCheckpoint(t *testing.T) {
	p := startTrial(t, "--tree", "1x3", "--no-restart")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var eventLog []string
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		eventLog = append(eventLog, e.String())
		latest := []string{"/1/manifest-5.json", "/2/manifest-3.json", "none"}[min(e.Attempt, 3)-1]
		if e.What == gridrpc.Checkpointed && strings.HasSuffix(e.Text, latest) {
			assert.Contains(t, p.ckpt("ls"), "numbers, n")
			p.signal(e.Server, syscall.SIGKILL)
		}
	})
	out, err := gridrpc.Service[count, counted](p.dial(), "count").Call(ctx, &count{To: 12, Holds: []int{5, 8}}, watch)
	require.NoError(t, err)
	assert.Equal(t, 3, out.Attempt)
	assert.Equal(t, 8, out.From)
	assert.Equal(t, "1 2 3 4 5 6 7 8 9 10 11 12 ", out.Text)
	assert.Contains(t, strings.Join(eventLog, "\n"), "attempt 3 at "+out.Server+": submitted from checkpoint ")
	require.Eventually(t, func() bool { // the server deletes them after it has sent the result
		left, err := filepath.Glob(filepath.Join(p.dir, "store", "*", "*", "*"))
		return err == nil && len(left) == 0
	}, within, 10*time.Millisecond)
	assert.Equal(t, 1, strings.Count(p.ckpt("ls"), "\n"))
}

// TestDeleteCheckpoints: the checkpoints of calls whose clients have ended.
func TestDeleteCheckpoints(t *testing.T) {
	p := &trial{t: t, dir: t.TempDir()}
	require.NoError(t, discovery.SaveStore(p.dir, filepath.Join(p.dir, "store")))
	s, err := store.Open(context.Background(), filepath.Join(p.dir, "store"))
	require.NoError(t, err)
	for _, call := range []string{"aa", "bb", "cc"} {
		_, err := ckptset.NewWriter(s, call, 1).Commit(t.Context(), t.TempDir(), []ckptset.Source{{Name: "x", Kind: ckptset.Value, Data: []byte("1")}})
		require.NoError(t, err)
	}
	assert.Equal(t, 4, strings.Count(p.ckpt("ls"), "\n"))
	p.ckpt("rm", "aa")
	assert.NotContains(t, p.ckpt("ls"), "aa")
	assert.Contains(t, p.ckpt("ls"), "bb")
	out, err := exec.Command(built().gridrpc, "ckpt", "--dir", p.dir, "rm", "aa").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "no checkpoint")
	p.ckpt("rm", "--all")
	assert.Equal(t, 1, strings.Count(p.ckpt("ls"), "\n"))
}

// TestProgramGoesOn: a program without gridrpc registers its files and a restart script by shell
// commands. It ends with the server that started it.
func TestProgramGoesOn(t *testing.T) {
	p := startTrial(t, "--tree", "1x2", "--no-restart")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	text := `
		if [ "$ATTEMPT" = 1 ]; then
			exec 3> PIPE
			echo half > result
			printf '#!/bin/sh\necho restarted >> result\n' > again
			chmod +x again
			GRIDRPC ckpt register result && GRIDRPC ckpt restart again && GRIDRPC ckpt notify && exec sleep 1000
			exit 1
		fi
		echo done >> result
		cat result`
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	text = strings.NewReplacer("GRIDRPC", built().gridrpc, "PIPE", pipe).Replace(text)
	ended := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(pipe) // to its end: no process has it open any more
		ended <- err
	}()
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		if e.What == gridrpc.Checkpointed && e.Attempt == 1 {
			p.signal(e.Server, syscall.SIGKILL)
		}
	})
	out, err := gridrpc.Service[string, string](p.dial(), "script").Call(ctx, &text, watch)
	require.NoError(t, err)
	assert.Equal(t, "half\nrestarted\ndone\n", *out)
	select {
	case err := <-ended:
		assert.NoError(t, err)
	case <-ctx.Done():
		assert.Fail(t, "the program still runs though its server was killed")
	}
}

// TestNoStore: without a store a checkpoint is an error for the body and for its caller.
func TestNoStore(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--no-restart", "--store", "")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	_, err := gridrpc.Service[count, counted](p.dial(), "count").Call(ctx, &count{To: 1})
	require.ErrorIs(t, err, gridrpc.ErrService)
	assert.ErrorContains(t, err, "--store")
	out, err := exec.Command(built().gridrpc, "up", "--dir", p.dir+"2", "--store", "ftp://b", built().trial).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "s3://")
}

// TestS3: checkpoints and kept results are in an object store. A server is killed, and its call
// continues from there. Another client fetches the result, and no object is left.
func TestS3(t *testing.T) {
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("ckpt"))
	web := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(web.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": web.URL, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret"} {
		t.Setenv(name, value)
	}
	p := startTrial(t, "--tree", "1x2", "--no-restart", "--store", "s3://ckpt/mine")
	s, err := store.Open(context.Background(), "s3://ckpt/mine")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		if e.What == gridrpc.Checkpointed && e.Attempt == 1 && strings.HasSuffix(e.Text, "/1/manifest-3.json") {
			assert.Contains(t, p.ckpt("ls"), "numbers, n")
			p.signal(e.Server, syscall.SIGKILL)
		}
	})
	out, err := gridrpc.Service[count, counted](p.dial(), "count").Call(ctx, &count{To: 6, Holds: []int{3}}, watch)
	require.NoError(t, err)
	assert.Equal(t, 3, out.From)
	assert.Equal(t, "1 2 3 4 5 6 ", out.Text)

	n := 100_000
	c, err := gridrpc.Dial(ctx, "")
	require.NoError(t, err)
	call, err := gridrpc.Service[int, string](c, "text").Go(ctx, &n, gridrpc.Keep(time.Hour))
	require.NoError(t, err)
	_, err = call.Wait(ctx)
	require.NoError(t, err)
	c.Close()
	holds := func(prefix string, some bool) func() bool {
		return func() bool {
			items, err := s.List(ctx, prefix)
			return err == nil && len(items) > 0 == some
		}
	}
	require.Eventually(t, holds("kept/", true), within, 10*time.Millisecond)
	again, err := gridrpc.Attach[string](ctx, p.dial(), call.ID())
	require.NoError(t, err)
	text, err := again.Wait(ctx)
	require.NoError(t, err)
	assert.Len(t, *text, n)
	_, _, err = p.command("attach", "--cancel", call.ID())
	require.NoError(t, err)
	require.Eventually(t, holds("", false), within, 10*time.Millisecond)
}
