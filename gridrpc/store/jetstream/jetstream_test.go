package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/store/jetstream/replica"
	"github.com/goulfm/goulfm/gridrpc/store/storetest"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// cluster starts three replicas in this process, and returns the name of their store.
func cluster(t *testing.T) string { return clusterIn(t, t.TempDir()) }

// clusterIn is cluster with the data of the replicas in a folder.
func clusterIn(t *testing.T, dir string) string {
	t.Helper()
	var listeners []net.Listener
	for range 2 * copies {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		listeners = append(listeners, l)
	}
	var addrs []string
	for _, l := range listeners {
		addrs = append(addrs, l.Addr().String())
		require.NoError(t, l.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() { cancel(); all.Wait() })
	for i := range copies {
		c := replica.Config{
			Name: fmt.Sprint("r", i), Dir: filepath.Join(dir, fmt.Sprint(i)), Addr: addrs[i], Route: addrs[copies+i], Routes: addrs[copies:],
			Say: func(text string) { t.Log(text) },
		}
		all.Go(func() { assert.NoError(t, replica.Serve(ctx, c)) })
	}
	return Name(addrs[:copies])
}

func open(t *testing.T, name string) *Store {
	s, err := Open(t.Context(), name, nil)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// messages returns the number of messages in the stream of a store.
func messages(t *testing.T, s *Store) uint64 {
	info, err := s.stream.Info(t.Context())
	require.NoError(t, err)
	return info.State.Msgs
}

// TestConformance: a stream is a store, and keeps no piece without a file.
func TestConformance(t *testing.T) {
	name, next := cluster(t), atomic.Int64{}
	storetest.Run(t, func(t *testing.T) checkpoint.Store { return open(t, fmt.Sprintf("%s/s%d", name, next.Add(1))) })
	t.Run("many Puts of one key", func(t *testing.T) { manyOfOneKey(t, open(t, name+"/one")) })
	t.Run("abandoned pieces", func(t *testing.T) { abandoned(t, open(t, name+"/three")) })
	t.Run("replaced while it is read", func(t *testing.T) { replaced(t, open(t, name+"/two")) })
	t.Run("located", func(t *testing.T) { located(t, open(t, name+"/four")) })
}

// located: a file is on the hosts of all three servers, once they have caught up.
func located(t *testing.T, s *Store) {
	require.NoError(t, s.Put(t.Context(), "a/b", -1, strings.NewReader("x")))
	where := func(want ...checkpoint.Host) {
		require.EventuallyWithT(t, func(t *assert.CollectT) { // the slowest of three may have it a little later
			hosts, err := s.Locate(context.Background(), "a/b")
			assert.NoError(t, err)
			assert.Equal(t, want, hosts)
		}, openWithin, 10*time.Millisecond)
	}
	where("r0", "r1", "r2")
	s.Hosts = map[string]checkpoint.Host{"r0": "rack", "r2": "rack"}
	where("r1", "rack")
}

// TestHostsOf: the leader and the servers that have caught up are hosts.
func TestHostsOf(t *testing.T) {
	s := &Store{Hosts: map[string]checkpoint.Host{"a": "x", "c": "x"}}
	replicas := []*jetstream.PeerInfo{{Name: "b", Current: true}, {Name: "c", Current: true}, {Name: "d"}, {Name: "e", Current: true, Offline: true}}
	assert.Equal(t, []checkpoint.Host{"b", "x"}, s.hostsOf(&jetstream.ClusterInfo{Leader: "a", Replicas: replicas}))
	assert.Empty(t, s.hostsOf(&jetstream.ClusterInfo{}), "it was not told who leads")
}

// manyOfOneKey: of several simultaneous Puts one complete file remains, and only its pieces.
func manyOfOneKey(t *testing.T, s *Store) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			text := strings.Repeat(fmt.Sprint(i), 2*pieceSize+i)
			assert.NoError(t, s.Put(t.Context(), "a/b", int64(len(text)), strings.NewReader(text)))
		})
	}
	all.Wait()
	r, err := s.Get(t.Context(), "a/b", 0, -1)
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Len(t, data, 2*pieceSize+int(data[0]-'0'))
	assert.Empty(t, strings.Trim(string(data), string(data[0])))
	pieces := uint64(2)
	if len(data) > 2*pieceSize {
		pieces++
	}
	assert.Equal(t, 1+pieces, messages(t, s))
	require.NoError(t, s.Delete(t.Context(), "a/b"))
	assert.Zero(t, messages(t, s))
}

// replaced: the reader of a file that is replaced gets an error, not a mixture.
func replaced(t *testing.T, s *Store) {
	put := func(c string) {
		require.NoError(t, s.Put(t.Context(), "a", -1, strings.NewReader(strings.Repeat(c, 2*pieceSize))))
	}
	put("x")
	r, err := s.Get(t.Context(), "a", 0, -1)
	require.NoError(t, err)
	_, err = io.ReadFull(r, make([]byte, pieceSize))
	require.NoError(t, err)
	put("y")
	_, err = io.ReadFull(r, make([]byte, pieceSize))
	assert.ErrorContains(t, err, "while it was read")
	require.NoError(t, s.publish(t.Context(), s.file("bad"), []byte("no record"), nil))
	_, err = s.Get(t.Context(), "bad", 0, -1)
	assert.ErrorIs(t, err, errMalformed)
	require.NoError(t, s.Delete(t.Context(), "bad"))
}

// abandoned: a sweep deletes the old pieces of a process that died within a Put, and no others.
func abandoned(t *testing.T, s *Store) {
	ctx, now := t.Context(), time.Now()
	text := strings.Repeat("x", pieceSize)
	require.NoError(t, s.Put(ctx, "whole", -1, strings.NewReader(text)))
	for _, age := range []time.Duration{time.Minute, 2 * time.Hour} {
		require.NoError(t, s.publish(ctx, s.piece(newID(now.Add(-age)), 0), []byte("left"), nil))
	}
	require.NoError(t, s.Sweep(ctx))
	assert.EqualValues(t, 4, messages(t, s), "a file and its piece, and two pieces that are not a day old")
	require.NoError(t, s.sweep(ctx, now.Add(-time.Hour)))
	assert.EqualValues(t, 3, messages(t, s))
	require.NoError(t, s.sweep(ctx, now.Add(time.Hour)))
	assert.EqualValues(t, 2, messages(t, s))
	r, err := s.Get(ctx, "whole", 0, -1)
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Len(t, data, pieceSize)
}

// TestMistakes: an invalid name is an error.
func TestMistakes(t *testing.T) {
	for _, name := range []string{"jetstream://", "jetstream://h", "jetstream://h:1,", "jetstream://h:1/a b", "jetstream://h:1/", "jetstream://u@h:1", "nats://h:1"} {
		_, err := Open(t.Context(), name, nil)
		assert.ErrorContains(t, err, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, "jetstream://127.0.0.1:1", nil)
	assert.ErrorIs(t, err, context.Canceled)
}

// TestPasses: errors after which a request is repeated, and others.
func TestPasses(t *testing.T) {
	assert.True(t, passes(fmt.Errorf("x: %w", context.DeadlineExceeded)))
	assert.True(t, passes(&jetstream.APIError{Code: 503}))
	assert.False(t, passes(&jetstream.APIError{Code: 400}))
	assert.False(t, passes(jetstream.ErrMsgNotFound))
	assert.False(t, passes(errors.New("x")))
}

// FuzzParse: a name is either refused, or has servers and a stream.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"jetstream://h:1", "jetstream://h:1,[::1]:2/s", "jetstream://h:1/", "x"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		servers, stream, err := Parse(name)
		if err != nil {
			return
		}
		assert.NotEmpty(t, servers)
		assert.Regexp(t, streamForm, stream)
		again, _, err := Parse(Name(servers))
		assert.NoError(t, err)
		assert.Equal(t, servers, again)
	})
}

// FuzzKeys: each key has a subject of its own. The key can be read from the subject, and each
// prefix of the key finds the subject.
func FuzzKeys(f *testing.F) {
	f.Add("a/b.c-d_e/manifest-1.json", 3)
	f.Add("a", 0)
	f.Fuzz(func(t *testing.T, key string, cut int) {
		if checkpoint.CheckKey(key) != nil {
			return
		}
		s := subjects{"st"}
		back, ok := s.key(s.file(key))
		assert.True(t, ok)
		assert.Equal(t, key, back)
		filter, ok := s.below(key[:min(len(key), max(0, cut))])
		assert.True(t, ok)
		folder, any := strings.CutSuffix(filter, ">")
		assert.True(t, any)
		assert.True(t, strings.HasPrefix(s.file(key), folder), "%s and %s", filter, s.file(key))
		assert.NotContains(t, folder, "*")
	})
}

// FuzzRecord: a message is either refused, or is a file that is written as it was read.
func FuzzRecord(f *testing.F) {
	for _, r := range []record{{ID: newID(time.Now()), Size: 3, Inline: true, body: []byte("abc")}, {ID: newID(time.Now()), Size: 5 << 20}} {
		data, err := r.encode()
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRecord(data)
		if err != nil {
			assert.ErrorIs(t, err, errMalformed)
			return
		}
		out, err := r.encode()
		require.NoError(t, err)
		again, err := decodeRecord(out)
		require.NoError(t, err)
		assert.Equal(t, r, again)
	})
}
