package parallel

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/server"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Folders in the folder of a call.
const (
	versionsDir = "versions"   // versions that the job publishes and sweeps
	keptDir     = "checkpoint" // links to the registered files of one version
)

// lookEach is the time between two checks for a new version.
const lookEach = 100 * time.Millisecond

// keeper makes checkpoints of a call of the versions that its job publishes.
type keeper struct {
	call  *server.Call
	dir   string
	last  string   // the version of the latest check
	files []string // the registered files, below keptDir
}

func newKeeper(c *server.Call, dir string) *keeper { return &keeper{call: c, dir: dir} }

// recall gives the job the version from which the call continues, if there is one.
func (k *keeper) recall() error {
	from := checkpoint.Dir(filepath.Join(k.dir, keptDir))
	items, err := from.List(context.Background(), "")
	if err != nil {
		return err
	}
	for _, i := range items {
		if err := link(filepath.Join(k.dir, keptDir, i.Key), filepath.Join(k.dir, versionsDir, i.Key)); err != nil {
			return err
		}
		k.files = append(k.files, i.Key)
		k.last, _ = path.Split(i.Key)
	}
	k.last = path.Clean(k.last)
	return nil
}

// watch checks for new versions until ctx is done, or the platform has no store.
func (k *keeper) watch(ctx context.Context) {
	for each := time.NewTicker(lookEach); ; {
		select {
		case <-ctx.Done():
			return
		case <-each.C:
		}
		if errors.Is(k.look(ctx), gridrpc.ErrUnsupported) {
			return
		}
	}
}

// look makes a checkpoint of the newest complete version, if it is a new one.
func (k *keeper) look(ctx context.Context) error {
	versions := checkpoint.Dir(filepath.Join(k.dir, versionsDir))
	all, err := checkpoint.List(ctx, versions)
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Err != nil {
			continue
		}
		if v.Name() == k.last {
			return nil
		}
		k.last = v.Name()
		return k.keep(ctx, versions, v.Name())
	}
	return nil
}

// keep registers the files of a version in place of the earlier ones, and stores them. Links keep
// files that the job sweeps meanwhile. If the job was faster, the next version is stored.
func (k *keeper) keep(ctx context.Context, versions checkpoint.Store, name string) error {
	items, err := versions.List(ctx, name+"/")
	for _, i := range items {
		if err == nil {
			err = link(filepath.Join(k.dir, versionsDir, i.Key), filepath.Join(k.dir, keptDir, i.Key))
		}
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(filepath.Join(k.dir, keptDir, name)))
	}
	before := k.files
	k.files = nil
	for _, i := range items {
		k.files = append(k.files, i.Key)
		err = errors.Join(err, k.call.RegisterFile(filepath.Join(keptDir, i.Key)))
	}
	for _, key := range before {
		k.call.ForgetFile(filepath.Join(keptDir, key))
		err = errors.Join(err, os.RemoveAll(filepath.Join(k.dir, keptDir, path.Dir(key))))
	}
	if err != nil {
		return err
	}
	_, err = k.call.Notify(ctx) // logs failures
	return err
}

// link gives a file a second name, and creates the folders above it.
func link(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Link(from, to)
}
