package checkpoint_test

import (
	"context"
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
	// Output:
	// ell <nil>
	// [{notes/first 5}] <nil>
}

// Which versions can be restored, and are their bytes as they were written?
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
