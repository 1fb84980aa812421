package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
)

// fakeSlurm puts commands of Slurm into PATH that run each job as a process group of this machine,
// noted in FAKE_SLURM/NAME.
func fakeSlurm(t *testing.T) (noted string) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sbatch": `for w; do case $w in --job-name=*) name=${w#*=};; --chdir=*) cd "${w#*=}";; esac; last=$w; done
echo submitted >>"$FAKE_SLURM/count"
setsid sh "$last" >log 2>&1 </dev/null &
echo $! >"$FAKE_SLURM/$name"; echo 7`,
		"squeue":  `for w; do case $w in --name=*) name=${w#*=};; esac; done; ! kill -0 $(cat "$FAKE_SLURM/$name" 2>/dev/null) 2>/dev/null || echo RUNNING`,
		"scancel": `kill -KILL -$(cat "$FAKE_SLURM/${1#*=}") && echo "$1" >>"$FAKE_SLURM/cancelled"`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	noted = t.TempDir()
	t.Setenv("FAKE_SLURM", noted)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return noted
}

// startBatch starts a platform of two servers in front of a batch system, whose service runs a
// shell script.
func startBatch(t *testing.T, script string) *trial {
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	p := newTrial(t)
	p.start(nil, "--tree", "1x2", "--no-restart", "--batch", "slurm", "--program", "job="+path+" {dir}")
	return p
}

// TestBatch: the server of a job is killed. The next attempt waits for the same job, whose program
// has run once, and gets its output.
func TestBatch(t *testing.T) {
	noted := fakeSlurm(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	p := startBatch(t, `echo begins; read line; echo "$line in $1"; cat `+pipe)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	killed := false
	s, err := gridrpc.Service[string, string](p.dial(), "job", gridrpc.InCodec(gridrpc.JSON)).Go(ctx, new("hello\n"), gridrpc.Watch(func(e gridrpc.Event) {
		switch {
		case e.What != gridrpc.Progressed || !strings.Contains(e.Text, "running"):
		case !killed:
			killed = true
			p.signal(e.Server, syscall.SIGKILL)
		case e.Attempt == 2:
			go func() { assert.NoError(t, os.WriteFile(pipe, []byte("ends\n"), 0)) }()
		}
	}))
	require.NoError(t, err)
	out, err := s.Wait(ctx)
	require.NoError(t, err)
	assert.Equal(t, "begins\nhello in .\nends\n", *out)
	count, err := os.ReadFile(filepath.Join(noted, "count"))
	require.NoError(t, err)
	assert.Equal(t, "submitted\n", string(count))
}

// TestBatchEnds: a call that is given up cancels its job. The exit code of a job, with its last
// lines, is the error of its call.
func TestBatchEnds(t *testing.T) {
	noted := fakeSlurm(t)
	p := startBatch(t, `read line; echo no good >&2; [ "$line" = wait ] && sleep 600; exit 3`)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	job := gridrpc.Service[string, string](p.dial(), "job", gridrpc.InCodec(gridrpc.JSON))
	_, err := job.Call(ctx, new("fail\n"))
	require.ErrorIs(t, err, gridrpc.ErrService)
	assert.ErrorContains(t, err, "exit code 3: no good")

	held, give := context.WithCancel(ctx)
	s, err := job.Go(held, new("wait\n"), gridrpc.Watch(func(e gridrpc.Event) {
		if e.What == gridrpc.Progressed && strings.Contains(e.Text, "running") {
			give()
		}
	}))
	require.NoError(t, err)
	_, err = s.Wait(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool {
		cancelled, _ := os.ReadFile(filepath.Join(noted, "cancelled"))
		return string(cancelled) == fmt.Sprintf("--name=gridrpc-%s\n", s.ID())
	}, within, 10*time.Millisecond)
}
