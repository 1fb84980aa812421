package commtest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
)

// A Config sets the options of a Run. The zero value is the plain Run. This one is in uniform mode:
//
//	commtest.Config{Comm: comm.Config{Uniform: true}}.Run(t, 4, body)
type Config struct {
	// Comm is the configuration that each rank would pass to comm.InitWith. A SpinPolls of 0 means
	// 20, since ranks outnumber cores in a test. Run never calls Warm. The environment changes
	// nothing.
	Comm comm.Config
	// Nodes assigns a simulated node to each rank, one entry per rank; nil: all ranks are on one
	// node.
	Nodes Nodes
	// Messages makes collectives and agreements use messages, as between nodes, instead of shared
	// memory.
	Messages bool
	// Limit is the time after which the test fails with a list of all waiting calls. 0: a minute.
	Limit time.Duration
}

// Run is Run with the Config.
func (cfg Config) Run(t testing.TB, n int, body func(ctx context.Context, w *comm.Comm)) {
	t.Helper()
	cfg.limits().runOn(t, cfg.world(t, n), nil, body)
}

// RunKilled is RunKilled with the Config. All communication uses messages.
func (cfg Config) RunKilled(t testing.TB, n, victim int, frame uint64, body func(ctx context.Context, w *comm.Comm)) bool {
	t.Helper()
	return runKilled(t, cfg.limits(), cfg.world(t, n), victim, frame, body)
}

func (cfg Config) limits() limits {
	l := generous
	if cfg.Limit > 0 {
		l.run = cfg.Limit
	}
	return l
}

func (cfg Config) world(t testing.TB, n int) world {
	t.Helper()
	if cfg.Nodes != nil && len(cfg.Nodes) != n {
		t.Fatalf("commtest: %d nodes for %d ranks: want one for each rank", len(cfg.Nodes), n)
	}
	w := world{ranks: n, nodes: cfg.Nodes, settings: door.Settings(cfg.Comm), log: cfg.Comm.Log}
	w.settings.Messages = cfg.Messages
	return w
}

// A world describes the ranks of a run: their number, their nodes (nil: all are on one), the
// settings of their engines, and their log.
type world struct {
	ranks    int
	nodes    Nodes
	settings engine.Config
	log      *slog.Logger // Config.Log of comm
}

// engine returns the configuration of the engine of a rank. byFrames makes all communication use
// frames, for runs that observe frames from outside.
func (w *world) engine(byFrames bool) engine.Config {
	cfg := w.settings
	if cfg.SpinPolls == 0 {
		cfg.SpinPolls = spinPolls
	}
	cfg.YieldPolls, cfg.Nodes = cfg.SpinPolls, w.nodes
	cfg.Messages = cfg.Messages || byFrames
	return cfg
}
