package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/recovery"
)

// run returns the result line and the number of tasks that were begun.
func run(t *testing.T, j commtest.Job) (line string, begun int) {
	t.Helper()
	var mu sync.Mutex
	var out bytes.Buffer
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		e := &ensemble{tasks: 24, points: 100, out: &out}
		e.began = func(int) {
			mu.Lock()
			defer mu.Unlock()
			begun++
		}
		return recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler)}, e.run)
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, l := range lines {
		assert.Equal(t, lines[0], l)
	}
	return lines[0], begun
}

// TestEachDeath: after a death at any point the result is that of one process, and at most one task
// is repeated.
func TestEachDeath(t *testing.T) {
	want, _ := run(t, commtest.Job{N: 1})
	got := ""
	commtest.EachKill(t, commtest.Job{N: 3}, func(j commtest.Job) string {
		line, begun := run(t, j)
		assert.LessOrEqual(t, begun, 24+len(j.Kills), "%v", j.Kills)
		got = line
		return line
	})
	assert.Equal(t, want, got)
}

// TestManyDeaths: ranks die one after the other, in different tasks. A kill takes effect only if the
// process gets the task of that number.
func TestManyDeaths(t *testing.T) {
	want, _ := run(t, commtest.Job{N: 1})
	var kills []commtest.Killed
	for number := range 6 { // the four ranks and the first two replacements
		kills = append(kills, commtest.Killed{Rank: number, Mark: "task", At: 6 + 3*number})
		kills = append(kills, commtest.Killed{Rank: number, Mark: "task", At: 7 + 3*number})
	}
	got, begun := run(t, commtest.Job{N: 4, Kills: kills})
	assert.Equal(t, want, got)
	assert.LessOrEqual(t, begun, 24+len(kills), fmt.Sprint(kills))
}
