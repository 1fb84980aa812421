package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// configs are the configurations of goroutine ranks for each home.
var configs = map[home]commtest.Config{inMemory: {}, onNodes: {Nodes: commtest.Nodes{0, 0, 1, 1}}, byMessages: {Messages: true}, ownMemory: {}}

// TestGoroutineRanks: histories in which a goroutine rank is killed, in each home.
func TestGoroutineRanks(t *testing.T) {
	for _, h := range homes {
		for seed := range uint64(5) {
			t.Run(fmt.Sprint(h, seed), func(t *testing.T) {
				var judged atomic.Int32
				dir := t.TempDir()
				configs[h].Run(t, 4, func(ctx context.Context, c *comm.Comm) {
					v, err := play(ctx, c, script{h, seed, 30, dir, func() { commtest.Kill(c) }})
					assert.NoError(t, err)
					if v.judged {
						judged.Add(1)
						assert.GreaterOrEqual(t, v.operations, 3*2*30)
						assert.LessOrEqual(t, v.open, 2)
					}
				})
				assert.Equal(t, int32(1), judged.Load())
			})
		}
	}
}

// history makes a history of operations, each of its own client. Operations without times follow
// one after the other.
func history(ops ...porcupine.Operation) []porcupine.Operation {
	for i := range ops {
		ops[i].ClientId = i
		if ops[i].Return == 0 {
			ops[i].Call, ops[i].Return = int64(10*i), int64(10*i+5)
		}
	}
	return ops
}

func did(k kind, a, b, x uint64) porcupine.Operation {
	return porcupine.Operation{Input: call{Kind: k, A: a, B: b}, Output: answer{known: true, X: x}}
}

func pairs(k kind, a, x, y uint64) porcupine.Operation {
	return porcupine.Operation{Input: call{Kind: k, Cell: pairCell, A: a}, Output: answer{known: true, X: x, Y: y, inPair: true}}
}

func open(k kind, a uint64) porcupine.Operation {
	return porcupine.Operation{Input: call{Kind: k, A: a}, Output: answer{}, Call: 1, Return: 1 << 40}
}

// TestModel: linearizable histories are accepted, and others are not.
func TestModel(t *testing.T) {
	for name, c := range map[string]struct {
		good bool
		ops  []porcupine.Operation
	}{
		"in order":                 {true, history(did(store, 3, 0, 0), did(add, 2, 0, 3), did(cas, 5, 1, 5), did(swap, 9, 0, 1), did(load, 0, 0, 9))},
		"a store is lost":          {false, history(did(store, 3, 0, 0), did(load, 0, 0, 0))},
		"an add is lost":           {false, history(did(add, 1, 0, 0), did(add, 1, 0, 0))},
		"a failed cas stores":      {false, history(did(cas, 5, 1, 0), did(load, 0, 0, 1))},
		"what is open happens":     {true, history(open(add, 7), did(load, 0, 0, 7))},
		"what is open does not":    {true, history(open(add, 7), did(load, 0, 0, 0))},
		"what is open comes twice": {false, history(open(add, 7), did(load, 0, 0, 14))},
		"what is open comes later": {true, history(open(add, 7), did(load, 0, 0, 0), did(load, 0, 0, 7))},
		"it goes back":             {false, history(open(add, 7), did(load, 0, 0, 7), did(load, 0, 0, 0))},
		"pairs":                    {true, history(pairs(write, 4, 0, 0), pairs(read, 0, 4, 4), pairs(write, 5, 4, 4))},
		"half a pair":              {false, history(pairs(write, 4, 0, 0), pairs(read, 0, 4, 0))},
		"a write under no lock":    {false, history(pairs(write, 4, 0, 0), pairs(write, 5, 0, 0))},
		"half a pair is mended":    {true, history(pairs(write, 4, 0, 0), pairs(mend, 6, 4, 1), pairs(read, 0, 6, 6))},
		"a mend that did nothing":  {false, history(pairs(write, 4, 0, 0), pairs(mend, 6, 4, 1), pairs(read, 0, 4, 4))},
		"a whole pair of nobody":   {false, history(pairs(write, 4, 0, 0), pairs(mend, 6, 1, 1))},
	} {
		assert.Equal(t, c.good, porcupine.CheckOperations(model, c.ops), name)
	}
	assert.True(t, strings.Contains(describe(history(did(add, 1, 0, 0))), "add"))
}

// TestFlags: valid flags are accepted, and others are not.
func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{"": true, "-histories 3 -n 2 -calls 9": true, "-n 1": false, "-calls 0": false, "-home nodes": true, "-home moon": false, "-rank": false, "-log x": false, "-rank -log x": true, "-histories 0": false, "x": false})
}

// TestMain lets a copy of this program be a rank.
func TestMain(m *testing.M) { trial.RunTests(m, func([]string) { main() }) }

// TestProcesses: histories in which a process is killed, in each home.
func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the launcher and starts processes")
	}
	var launcher options
	remove, err := launcher.build()
	require.NoError(t, err)
	defer remove()
	for _, h := range homes {
		o, err := parse([]string{"-histories", "3", "-seed", "3", "-home", string(h), "-goulfm", launcher.Goulfm}, io.Discard)
		assert.NoError(t, err)
		var out strings.Builder
		code, err := drive(o, &out)
		assert.NoError(t, err)
		assert.Zero(t, code, out.String())
	}
}
