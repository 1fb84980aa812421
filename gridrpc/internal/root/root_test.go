package root

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDisk: the next process finds stored values and entries, and no deleted ones.
func TestDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raft")
	again := func() *disk {
		d, err := openDisk(path)
		require.NoError(t, err)
		return d
	}
	d := again()
	first, err := d.FirstIndex()
	require.NoError(t, err)
	assert.Zero(t, first)
	require.NoError(t, d.SetUint64([]byte("term"), 7))
	require.NoError(t, d.Set([]byte("vote"), []byte("ma2")))
	for i := uint64(1); i <= 5; i++ {
		require.NoError(t, again().StoreLog(&raft.Log{Index: i, Term: i, Data: []byte{byte(i)}}))
	}
	require.NoError(t, again().StoreLogs([]*raft.Log{{Index: 5, Term: 9}, {Index: 6, Term: 9}}))
	require.NoError(t, again().DeleteRange(1, 2))
	d = again()
	first, _ = d.FirstIndex()
	last, _ := d.LastIndex()
	assert.Equal(t, []uint64{3, 6}, []uint64{first, last})
	var l raft.Log
	require.NoError(t, d.GetLog(5, &l))
	assert.Equal(t, uint64(9), l.Term)
	assert.ErrorIs(t, d.GetLog(2, &l), raft.ErrLogNotFound)
	term, err := d.GetUint64([]byte("term"))
	require.NoError(t, err)
	vote, err := d.Get([]byte("vote"))
	require.NoError(t, err)
	assert.Equal(t, "7 ma2", fmt.Sprint(term, " ", string(vote)))
}

// FuzzDisk: a file is either refused, or is an ordered log that is written as it was read.
func FuzzDisk(f *testing.F) {
	data, err := json.Marshal(memory{Values: map[string][]byte{"a": {1}}, Logs: []raft.Log{{Index: 1}, {Index: 3}}})
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(`{"Logs":[{"Index":2},{"Index":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeMemory(data)
		if err != nil {
			return
		}
		out, err := json.Marshal(m)
		if err != nil { // a year that JSON has no text for
			return
		}
		again, err := decodeMemory(out)
		require.NoError(t, err)
		assert.Len(t, again.Logs, len(m.Logs))
		for i := range m.Logs {
			at, ok := m.find(m.Logs[i].Index)
			assert.True(t, ok)
			assert.Equal(t, i, at)
		}
	})
}

// master is a master in the group of a test.
type master struct {
	stop func()
	done chan struct{}
}

// TestReigns: one of three masters reigns at a time. After its end another master reigns with a
// greater term, and the first one returns as a follower that knows its vote.
func TestReigns(t *testing.T) {
	var peers []Peer
	var listeners []net.Listener
	for i := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		listeners = append(listeners, l)
		peers = append(peers, Peer{fmt.Sprint("m", i), l.Addr().String()})
	}
	for _, l := range listeners {
		require.NoError(t, l.Close())
	}
	type reign struct {
		name string
		term uint64
	}
	reigns := make(chan reign)
	var mu sync.Mutex
	reigning := 0
	dir := t.TempDir()
	start := func(name string) master {
		g, err := Join(Config{Name: name, File: filepath.Join(dir, name), Peers: peers})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		m := master{stop: cancel, done: make(chan struct{})}
		go func() {
			defer close(m.done)
			assert.NoError(t, g.Run(ctx, func(ctx context.Context, term uint64) {
				mu.Lock()
				reigning++
				assert.Equal(t, 1, reigning)
				mu.Unlock()
				select {
				case reigns <- reign{name, term}:
				case <-ctx.Done():
				}
				<-ctx.Done()
				mu.Lock()
				reigning--
				mu.Unlock()
			}))
		}()
		return m
	}
	all := map[string]master{}
	for _, p := range peers {
		all[p.Name] = start(p.Name)
	}
	await := func() reign {
		select {
		case r := <-reigns:
			return r
		case <-time.After(time.Minute):
			require.Fail(t, "nobody reigns")
			return reign{}
		}
	}
	first := await()
	all[first.name].stop()
	<-all[first.name].done
	second := await()
	assert.NotEqual(t, first.name, second.name)
	assert.Greater(t, second.term, first.term)
	all[first.name] = start(first.name)
	all[second.name].stop()
	<-all[second.name].done
	third := await()
	assert.Greater(t, third.term, second.term)
	for _, m := range all {
		m.stop()
		<-m.done
	}
	_, err := Join(Config{Name: "stranger", Peers: peers})
	assert.ErrorContains(t, err, "stranger")
}
