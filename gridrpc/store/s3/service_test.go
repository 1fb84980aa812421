package s3

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/internal/ckptset"
	"github.com/goulfm/goulfm/gridrpc/store/s3/seaweed"
	"github.com/goulfm/goulfm/gridrpc/store/storetest"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Numbers of volume servers and of copies: after the loss of one server there are enough for all
// copies.
const (
	servers = 4
	copies  = 3
)

// openAt opens a store of the service.
func openAt(t *testing.T, name string) checkpoint.Store {
	s, err := Open(t.Context(), Scheme+name)
	require.NoError(t, err)
	return s
}

// TestServiceConformance: folders in a bucket of a real service are stores.
func TestServiceConformance(t *testing.T) {
	seaweed.Start(t, copies, copies).Bucket("our")
	next := atomic.Int64{}
	storetest.Run(t, func(t *testing.T) checkpoint.Store { return openAt(t, fmt.Sprintf("our/s%d", next.Add(1))) })
}

// sizes are of objects: one piece of the service, several, several parts of a Put.
var sizes = []int{100, 300 << 10, 9 << 20, 2*partSize + 12345}

// TestServiceLosesServer: each volume server is killed in turn. All objects are read completely,
// Puts continue, and the server gets its share again after its restart.
func TestServiceLosesServer(t *testing.T) {
	service := seaweed.Start(t, servers, copies)
	service.Bucket("our")
	s := openAt(t, "our/lost")
	latest := map[string]int{}
	putAll := func(version int) {
		for i, size := range sizes {
			key := fmt.Sprint("o", i)
			require.NoError(t, put(t.Context(), s, key, version, size))
			latest[key] = version
			key = fmt.Sprint("new/", version, "/", i)
			require.NoError(t, put(t.Context(), s, key, version, size))
			latest[key] = version
		}
	}
	readAll := func() {
		for key, version := range latest {
			assert.Equal(t, version, assertWhole(t, s, key), key)
		}
	}
	putAll(0)
	made := checkpointed(t, s)
	for i := range servers {
		name := fmt.Sprint("v", i+1)
		service.Kill(name)
		begun := time.Now()
		require.NoError(t, put(t.Context(), s, "first", i, 1000))
		t.Logf("%s killed: the first Put had ended after %v", name, time.Since(begun).Round(time.Millisecond))
		begun = time.Now()
		readAll()
		t.Logf("%d objects were read in %v", len(latest), time.Since(begun).Round(time.Millisecond))
		assertRestored(t, s, made)
		putAll(i + 1)
		made = checkpointed(t, s)
		readAll()
		service.Restart(name)
		service.AwaitVolumes(servers)
		readAll()
	}
}

// checkpointed puts a checkpoint of a file of some chunks.
func checkpointed(t *testing.T, s checkpoint.Store) ckptset.Manifest {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "numbers"), object("numbers", 1, 10<<20), 0o600))
	m, err := ckptset.NewWriter(s, "ab12", 1).Commit(t.Context(), dir, []ckptset.Source{{Name: "numbers", Kind: ckptset.File}})
	require.NoError(t, err)
	return m
}

// assertRestored restores a checkpoint and compares it.
func assertRestored(t *testing.T, s checkpoint.Store, made ckptset.Manifest) {
	dir := t.TempDir()
	m, err := ckptset.Load(t.Context(), s, made.ID)
	require.NoError(t, err)
	_, err = m.Restore(t.Context(), s, dir)
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "numbers"))
	require.NoError(t, err)
	_, err = versionOf("numbers", data)
	assert.NoError(t, err)
}

// TestServiceTooFewServers: with as many servers as copies no Put succeeds while one server is
// dead, because one copy has no place. Existing objects are read. A Put waits until its context
// ends, and then leaves nothing, or until the server is back, and then succeeds.
func TestServiceTooFewServers(t *testing.T) {
	service := seaweed.Start(t, copies, copies)
	service.Bucket("our")
	s := openAt(t, "our/few")
	require.NoError(t, put(t.Context(), s, "o", 1, 300<<10))
	service.Kill("v2")
	for _, key := range []string{"o", "new"} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		require.ErrorIs(t, put(ctx, s, key, 2, 300<<10), context.DeadlineExceeded)
		cancel()
	}
	assert.Equal(t, 1, assertWhole(t, s, "o"))
	_, err := read(t.Context(), s, "new")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	under, done := make(chan bool), make(chan error, 1)
	data := object("waits", 3, 300<<10)
	go func() {
		all := &pausing{Reader: bytes.NewReader(data), left: len(data), pause: func() { close(under) }}
		done <- s.Put(t.Context(), "waits", int64(len(data)), all)
	}()
	<-under
	service.Restart("v2")
	begun := time.Now()
	service.AwaitVolumes(copies)
	joined := time.Now()
	require.NoError(t, <-done)
	t.Logf("the server had joined after %v, and the Put that waited for it ended %v later", joined.Sub(begun).Round(time.Millisecond), time.Since(joined).Round(time.Millisecond))
	assert.Equal(t, 3, assertWhole(t, s, "waits"))
}

// pausing is a reader that calls pause once, at a given byte.
type pausing struct {
	io.Reader
	left  int
	pause func()
}

func (p *pausing) Read(b []byte) (int, error) {
	if p.left == 0 {
		p.pause()
		p.left = -1
	}
	if p.left > 0 {
		b = b[:min(len(b), p.left)]
	}
	n, err := p.Reader.Read(b)
	if p.left > 0 {
		p.left -= n
	}
	return n, err
}

// TestServiceLosesServerInPut: a server dies between the parts of a Put, for each of them in turn.
func TestServiceLosesServerInPut(t *testing.T) {
	service := seaweed.Start(t, servers, copies)
	service.Bucket("our")
	s := openAt(t, "our/under-way")
	for i := range servers {
		name := fmt.Sprint("v", i+1)
		data := object("o", i, 3*partSize)
		slow := &pausing{Reader: bytes.NewReader(data), left: partSize + partSize/2, pause: func() { service.Kill(name) }}
		begun := time.Now()
		require.NoError(t, s.Put(t.Context(), "o", int64(len(data)), slow))
		t.Logf("%s killed: a Put of %d MiB took %v", name, len(data)>>20, time.Since(begun).Round(time.Millisecond))
		assert.Equal(t, i, assertWhole(t, s, "o"))
		service.Restart(name)
		service.AwaitVolumes(servers)
	}
}

// TestServiceLosesTheOnlyOne: there is one gateway, one filer and one master. Each is killed
// between the parts of a Put and restarted. The Put may fail, and readers get either the former
// object or this one. Later Puts succeed.
func TestServiceLosesTheOnlyOne(t *testing.T) {
	service := seaweed.Start(t, copies, copies)
	service.Bucket("our")
	s := openAt(t, "our/only")
	require.NoError(t, put(t.Context(), s, "o", 0, 1000))
	for i, name := range []string{"s3", "filer", "master"} {
		data := object("o", 2*i+1, 2*partSize)
		restarted := func() { service.Kill(name); service.Restart(name) }
		begun := time.Now()
		err := s.Put(t.Context(), "o", int64(len(data)), &pausing{Reader: bytes.NewReader(data), left: partSize + partSize/2, pause: restarted})
		t.Logf("%s killed: the Put ended after %v: %v", name, time.Since(begun).Round(time.Millisecond), err)
		service.AwaitVolumes(copies)
		var got []byte
		require.Eventually(t, func() bool {
			var failed error
			got, failed = read(t.Context(), s, "o")
			return failed == nil
		}, time.Minute, 50*time.Millisecond)
		version, torn := versionOf("o", got)
		require.NoError(t, torn)
		if err == nil {
			assert.Equal(t, 2*i+1, version)
		} else {
			assert.Contains(t, []int{2 * i, 2*i + 1}, version)
		}
		require.NoError(t, put(t.Context(), s, "o", 2*i+2, 1000))
		assert.Equal(t, 2*i+2, assertWhole(t, s, "o"))
	}
}
