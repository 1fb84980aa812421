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

// Folders in that of a call.
const (
	versionsDir = "versions"   // what the job publishes, and sweeps
	keptDir     = "checkpoint" // links to files of one version, which are registered
)

// lookEach is the time between two looks for a new version.
const lookEach = 100 * time.Millisecond

// keeper makes checkpoints of a call of the versions that its job publishes.
type keeper struct {
	call  *server.Call
	dir   string
	last  string   // the version that was looked at last
	files []string // that are registered, below keptDir
}

func newKeeper(c *server.Call, dir string) *keeper { return &keeper{call: c, dir: dir} }

// recall gives the job the version that the call goes on from, if there is one.
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

// watch looks for new versions until ctx is done, or nothing can be stored at all.
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

// look makes a checkpoint of the newest version that is whole, if it is a new one.
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

// keep has the files of a version be the ones that are registered, and stores them. What the job
// sweeps meanwhile stays here; if it was faster, the next version will do.
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
	_, err = k.call.Notify(ctx) // which logs what fails
	return err
}

// link gives a file a second name, below folders that are made.
func link(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Link(from, to)
}
