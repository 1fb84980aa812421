package commtest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
)

// A Config says how a Run differs from the plain one, which is the zero value:
//
//	commtest.Config{Comm: comm.Config{Uniform: true}}.Run(t, 4, body)
type Config struct {
	// Comm is what each rank would give to comm.InitWith. A SpinPolls of 0 is 20, since
	// ranks outnumber cores in a test. The environment changes nothing.
	Comm comm.Config
	// Nodes are simulated nodes, one entry for each rank; nil: all ranks are on one node.
	Nodes Nodes
	// Messages has collectives and agreements go by messages, as between nodes, and not
	// through memory.
	Messages bool
	// Limit is after how long the test fails, with a list of who waits for whom. 0: a minute.
	Limit time.Duration
}

// Run is Run with the Config.
func (cfg Config) Run(t testing.TB, n int, body func(ctx context.Context, w *comm.Comm)) {
	t.Helper()
	cfg.limits().runOn(t, cfg.world(t, n), nil, body)
}

// RunKilled is RunKilled with the Config. All goes by messages.
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

// A world is how many ranks a run has, on which nodes they are (nil: all on one), and what
// their engines are told besides.
type world struct {
	ranks    int
	nodes    Nodes
	settings engine.Config
	log      *slog.Logger // Config.Log of comm
}

// engine returns what the engine of a rank is told. Where frames are looked at from
// outside everything goes by frames.
func (w *world) engine(byFrames bool) engine.Config {
	cfg := w.settings
	if cfg.SpinPolls == 0 {
		cfg.SpinPolls = spinPolls
	}
	cfg.YieldPolls, cfg.Nodes = cfg.SpinPolls, w.nodes
	cfg.Messages = cfg.Messages || byFrames
	return cfg
}
