package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/store/s3/seaweed"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// writer puts one version of its objects after the other.
type writer struct {
	sizes        []int
	acked, tried []int // of each object, the latest version; -1: none
	failed       []error
}

// key returns the key of object i.
func (w *writer) key(name, i int) string { return fmt.Sprintf("w%d/o%d", name, i) }

// run puts versions until ctx ends, and reports each successful Put.
func (w *writer) run(ctx context.Context, s checkpoint.Store, name int, done chan<- int) {
	for n := 0; ctx.Err() == nil; n++ {
		i := n % len(w.sizes)
		w.tried[i]++
		if err := put(context.WithoutCancel(ctx), s, w.key(name, i), w.tried[i], w.sizes[i]); err != nil {
			w.failed = append(w.failed, err)
			continue
		}
		w.acked[i] = w.tried[i]
		select {
		case done <- name:
		case <-ctx.Done():
		}
	}
}

// readers reads objects in any order until ctx ends. An object that is read to its end must be
// complete.
func readers(ctx context.Context, t *testing.T, s checkpoint.Store, keys []string) (whole int, failed []error) {
	for ctx.Err() == nil {
		key := keys[rand.IntN(len(keys))]
		data, err := read(context.WithoutCancel(ctx), s, key)
		switch {
		case errors.Is(err, fs.ErrNotExist): // not yet
		case err != nil:
			failed = append(failed, err)
		default:
			_, err := versionOf(key, data)
			assert.NoError(t, err)
			whole++
		}
	}
	return whole, failed
}

// TestServiceIsNeverTorn: servers die and return while several goroutines put and read. An object
// that is read to its end has all bytes of one Put, and no object is lost. In the end all processes
// are killed together and restarted, with the same result.
func TestServiceIsNeverTorn(t *testing.T) {
	service := seaweed.Start(t, servers, copies)
	service.Bucket("our")
	s := openAt(t, "our/torn")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan int)
	var all sync.WaitGroup
	var ws []*writer
	var keys []string
	for name, sizes := range [][]int{{1000, 70_000}, {5 << 20, 300_000}, {2*partSize + 1000}} {
		w := &writer{sizes: sizes}
		for i := range sizes {
			w.acked, w.tried = append(w.acked, -1), append(w.tried, -1)
			keys = append(keys, w.key(name, i))
		}
		ws = append(ws, w)
		all.Go(func() { w.run(ctx, s, name, done) })
	}
	for range 2 {
		all.Go(func() {
			whole, failed := readers(ctx, t, s, keys)
			t.Logf("%d objects were read to their end, %d were not: %v", whole, len(failed), errors.Join(failed...))
		})
	}
	// await waits until each of the writers has put some more.
	await := func(more int) {
		for got := make([]int, len(ws)); min(got[0], got[1], got[2]) < more; {
			select {
			case name := <-done:
				got[name]++
			case <-time.After(2 * time.Minute):
				require.Fail(t, "Puts do not go on", "%v", got)
			}
		}
	}
	for i := range servers {
		name := fmt.Sprint("v", i+1)
		await(2)
		service.Kill(name)
		await(2)
		service.Restart(name)
		service.AwaitVolumes(servers)
	}
	await(1)
	stop()
	all.Wait()
	check := func() {
		for name, w := range ws {
			for i := range w.sizes {
				version := assertWhole(t, s, w.key(name, i))
				assert.GreaterOrEqual(t, version, w.acked[i])
				assert.LessOrEqual(t, version, w.tried[i])
			}
		}
	}
	for name, w := range ws {
		t.Logf("writer %d: %v Puts of each object, %d failed: %v", name, w.tried, len(w.failed), errors.Join(w.failed...))
	}
	check()
	service.KillAll()
	service.RestartAll()
	check()
}
