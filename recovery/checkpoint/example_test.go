package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// folder returns a folder that does not exist yet.
func folder() string {
	dir, err := os.MkdirTemp("", "checkpoints")
	if err != nil {
		panic(err)
	}
	return filepath.Join(dir, "store")
}

func ExampleDir() {
	ctx, path := context.Background(), folder()
	defer os.RemoveAll(filepath.Dir(path))
	store := checkpoint.Dir(path)
	if err := store.Put(ctx, "notes/first", 5, strings.NewReader("hello")); err != nil {
		fmt.Println(err)
		return
	}
	r, err := store.Get(ctx, "notes/first", 1, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	part, err := io.ReadAll(r)
	fmt.Println(string(part), err)
	items, err := store.List(ctx, "notes/")
	fmt.Println(items, err)
	fmt.Println(store.Delete(ctx, "notes/first"))
	items, err = store.List(ctx, "notes/")
	fmt.Println(items, err)
	// Output:
	// ell <nil>
	// [{notes/first 5}] <nil>
	// <nil>
	// [] <nil>
}

// Find the versions that can be restored, and check that their bytes are as written.
func ExampleList() {
	ctx, path := context.Background(), folder()
	defer os.RemoveAll(filepath.Dir(path))
	store := checkpoint.Dir(path)
	// A job that was killed before it could publish leaves files without a manifest.
	if err := store.Put(ctx, "heat-2-17/rank-0.gck", -1, strings.NewReader("...")); err != nil {
		fmt.Println(err)
		return
	}
	versions, err := checkpoint.List(ctx, store)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range versions {
		if v.Err != nil {
			fmt.Println(v.Name(), v.Err)
			continue
		}
		fmt.Println(v.Name(), v.Ranks, checkpoint.Verify(ctx, store, v))
	}
	// Output:
	// heat-2-17 checkpoint: the version was not published: heat-2-17
}

// Keys of parts without a path that leaves a folder.
func ExampleCheckKey() {
	for _, key := range []string{"heat-2-17/rank-0.gck", "../secret", "a b", "notes/half.tmp"} {
		fmt.Println(key, errors.Is(checkpoint.CheckKey(key), checkpoint.ErrKey))
	}
	// Output:
	// heat-2-17/rank-0.gck false
	// ../secret true
	// a b true
	// notes/half.tmp true
}

// Under its name a version is a folder of the store, and a value of GOULFM_RESTART.
func ExampleVersion_Name() {
	fmt.Println(checkpoint.Version{Job: "heat", Epoch: 2, Number: 17}.Name())
	// Output: heat-2-17
}

// A version without its manifest is not complete, whichever files exist.
func ExampleVerify() {
	ctx, path := context.Background(), folder()
	defer os.RemoveAll(filepath.Dir(path))
	store, v := checkpoint.Dir(path), checkpoint.Version{Job: "heat", Epoch: 2, Number: 17}
	if err := store.Put(ctx, v.Name()+"/rank-0.gck", -1, strings.NewReader("...")); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(errors.Is(checkpoint.Verify(ctx, store, v), checkpoint.ErrIncomplete))
	// Output: true
}

// A job that was restarted too early may not write the versions of a name while the former job is
// alive. Processes of one job hold the lock together.
func ExampleLocker() {
	ctx, path := context.Background(), folder()
	defer os.RemoveAll(filepath.Dir(path))
	store := checkpoint.Dir(path).(checkpoint.Locker)
	first := checkpoint.Owner{ID: "7f3a", Host: "node-a", PID: 4711}
	release, err := store.Lock(ctx, "heat", first)
	if err != nil {
		fmt.Println(err)
		return
	}

	second := checkpoint.Owner{ID: "91c0", Host: "node-b", PID: 42}
	_, err = store.Lock(ctx, "heat", second)
	var locked *checkpoint.LockedError
	fmt.Println(errors.As(err, &locked), err)

	release() // the end of the process releases the lock, too
	release, err = store.Lock(ctx, "heat", second)
	if err != nil {
		fmt.Println(err)
		return
	}
	release()
	// Output:
	// true versions of "heat" are written by process 4711 on host node-a (job 7f3a)
}

// near is a store on the disks of its nodes, in little: all files are at one host.
type near struct {
	checkpoint.Store
	host checkpoint.Host
}

func (n near) Locate(context.Context, string) ([]checkpoint.Host, error) {
	return []checkpoint.Host{n.host}, nil
}

// A program starts the reader of a file at a host that has the file. Dir knows no hosts, because
// all nodes see its folder.
func ExampleLocate() {
	ctx, path := context.Background(), folder()
	defer os.RemoveAll(filepath.Dir(path))
	shared := checkpoint.Dir(path)
	if err := shared.Put(ctx, "notes/first", 5, strings.NewReader("hello")); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(checkpoint.Locate(ctx, shared, "notes/first"))
	fmt.Println(checkpoint.Locate(ctx, near{shared, "node-a"}, "notes/first"))
	// Output:
	// [] <nil>
	// [node-a] <nil>
}

// Remove deletes the remains of a version that is not needed any more.
func ExampleRemove() {
	ctx, path := context.Background(), folder()
	defer os.RemoveAll(filepath.Dir(path))
	store, v := checkpoint.Dir(path), checkpoint.Version{Job: "heat", Epoch: 2, Number: 17}
	if err := store.Put(ctx, v.Name()+"/rank-0.gck", -1, strings.NewReader("...")); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(checkpoint.Remove(ctx, store, v))
	items, err := store.List(ctx, "heat")
	fmt.Println(len(items), err)
	// Output:
	// <nil>
	// 0 <nil>
}
