package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/store/jetstream/replica"
)

// storeProcess is a process of the store that "up" starts.
func storeProcess(ctx context.Context, args []string) error {
	f := flags("store")
	name := f.String("name", "", "of this process, as in its certificate")
	data := f.String("data", "", "folder of its files; that of the platform if there is none")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	dir := gridrpc.DefaultDir()
	id, err := link.Load(dir, *name)
	if err != nil {
		return err
	}
	say := func(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", *name, text) }
	ctx = discovery.Tethered(ctx)
	go id.KeepFresh(ctx, id.FromFile(dir, *name), say)
	go join.ShunRevoked(ctx, dir, id, say)
	list, err := discovery.Peers(dir, discovery.Replicas)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(r discovery.Peer) bool { return r.Name == *name })
	if at < 0 {
		return fmt.Errorf("no replica %q is listed in %s", *name, dir)
	}
	files := filepath.Join(cmp.Or(*data, filepath.Join(dir, "jetstream")), *name)
	if err := os.MkdirAll(files, 0o700); err != nil {
		return err
	}
	c := replica.Config{
		Name: *name, Addr: list[at].Addr, Route: list[at].Route, Dir: files,
		Client: id.TLS(link.Client, link.Worker), Peer: id.TLS(link.Store),
		Shunned: func() (keys []string) {
			for _, key := range id.Revoked() {
				keys = append(keys, hex.EncodeToString(key[:]))
			}
			return keys
		},
		Say: say,
	}
	for _, r := range list {
		c.Routes = append(c.Routes, r.Route)
	}
	return replica.Serve(ctx, c)
}
