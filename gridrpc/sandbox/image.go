package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
)

// images takes one image after the other, with a pause of Program.Every, until ctx is done or the
// platform has no store.
func (b *box) images(ctx context.Context) {
	if b.every < 0 {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(b.every):
		}
		err := b.image(ctx)
		if errors.Is(err, gridrpc.ErrUnsupported) {
			return
		}
		if err != nil && ctx.Err() == nil {
			b.call.Log.Printf("call %.8s goes on without a new image: %v", b.call.ID, err)
		}
	}
}

// image makes a checkpoint of the sandbox: memory and files as runsc has written them, input, and
// the output up to that moment. After a failure the earlier image stays.
func (b *box) image(ctx context.Context) error {
	before, files := b.last, b.files
	next := about{Number: before.Number + 1, CPU: processor()}
	if err := b.save(ctx, &next); err != nil {
		return errors.Join(err, os.RemoveAll(b.path(next.folder())))
	}
	data, err := json.Marshal(next)
	if err == nil {
		err = os.WriteFile(b.path(aboutFile), data, 0o600)
	}
	if err != nil {
		return err
	}
	b.last = next
	if err := b.register(); err != nil {
		return err
	}
	for _, name := range files {
		b.call.ForgetFile(name)
	}
	if before.Number > 0 {
		if err := os.RemoveAll(b.path(before.folder())); err != nil {
			return err
		}
	}
	_, err = b.call.Notify(ctx) // logs failures
	return err
}

// save makes runsc write an image while the program is stopped.
func (b *box) save(ctx context.Context, to *about) (err error) {
	if err := os.MkdirAll(b.path(to.folder()), 0o700); err != nil {
		return err
	}
	if err := b.do(ctx, "pause", boxName); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.do(ctx, "resume", boxName)) }()
	if err := b.do(ctx, "checkpoint", "--image-path", b.path(to.folder()), "--leave-running", boxName); err != nil {
		return err
	}
	info, err := os.Stat(b.path(outputFile))
	if err == nil {
		to.Output = info.Size()
	}
	return err
}

// register makes the files of the latest image those of the next checkpoint of the call.
func (b *box) register() error {
	list, err := filepath.Glob(b.path(filepath.Join(b.last.folder(), "*")))
	if err != nil {
		return err
	}
	b.files = nil
	for _, path := range list {
		name, err := filepath.Rel(b.dir, path)
		if err != nil {
			return err
		}
		b.files = append(b.files, name)
	}
	for _, name := range append([]string{inputFile, outputFile, aboutFile}, b.files...) {
		if err := b.call.RegisterFile(name); err != nil {
			return err
		}
	}
	return nil
}
