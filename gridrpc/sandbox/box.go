package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/subprocess"
	"github.com/goulfm/goulfm/gridrpc/server"
)

// Files of an image, in the folder of the call.
const (
	inputFile  = "input"
	outputFile = "output"
	aboutFile  = "about.json"
	imagesDir  = "images" // the latest one is in a folder named by its number
)

// box is the sandbox of one attempt of a call.
type box struct {
	tool
	call  *server.Call
	every time.Duration
	last  about    // image
	files []string // the registered files of last
}

// about describes an image.
type about struct {
	Number int
	Output int64  // bytes of output written before it
	CPU    string // the processor that it requires
}

// parseAbout decodes the JSON of an about.
func parseAbout(data []byte) (a about, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err = d.Decode(&a); err == nil && (a.Number < 1 || a.Output < 0 || d.More()) {
		err = errors.New("out of range")
	}
	if err != nil {
		return about{}, fmt.Errorf("sandbox: %s: %w", aboutFile, err)
	}
	return a, nil
}

func (b *box) path(name string) string { return filepath.Join(b.dir, name) }

func (a about) folder() string { return filepath.Join(imagesDir, fmt.Sprint(a.Number)) }

// recall returns the image from which this attempt continues, or "".
func (b *box) recall() (image string, err error) {
	if _, ok := b.call.Restored(); !ok {
		return "", nil
	}
	data, err := os.ReadFile(b.path(aboutFile))
	if err != nil {
		return "", err
	}
	if b.last, err = parseAbout(data); err != nil {
		return "", err
	}
	if err := b.register(); err != nil {
		return "", err
	}
	return b.resume(processor())
}

// resume returns the latest image if it can be restored on this processor. The program writes again
// the output that the earlier attempt has written after the image.
func (b *box) resume(here string) (image string, err error) {
	if here != b.last.CPU {
		b.call.Log.Printf("call %.8s begins from the start: its image needs a processor %s, and this is %s", b.call.ID, b.last.CPU, here)
		return "", nil
	}
	return b.path(b.last.folder()), os.Truncate(b.path(outputFile), b.last.Output)
}

// prepare writes the files that the sandbox starts with.
func (b *box) prepare(p Program, fresh bool, in string) error {
	if fresh {
		err := errors.Join(os.WriteFile(b.path(inputFile), []byte(in), 0o600), os.WriteFile(b.path(outputFile), nil, 0o600))
		if err != nil {
			return err
		}
	}
	return b.describe(containerOf(p))
}

// run runs the program to its end.
func (b *box) run(ctx context.Context, from string) error {
	in, err := os.Open(b.path(inputFile))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(b.path(outputFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	var said tail
	cmd := b.start(ctx, from)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, io.MultiWriter(b.call.Log.Writer(), &said)
	switch notStarted, ended := subprocess.RunBeside(ctx, cmd, b.images); {
	case notStarted != nil:
		return fmt.Errorf("sandbox: %w", notStarted)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case ended != nil:
		return fmt.Errorf("%w: %w: %s", errExit, ended, cmp.Or(string(bytes.TrimSpace(said)), "it said nothing"))
	}
	return nil
}

// tailMax is the number of the last bytes of a program's standard error in the error of the call.
const tailMax = 1 << 10

// tail keeps the last bytes that are written to it.
type tail []byte

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	*t = (*t)[max(0, len(*t)-tailMax):]
	return len(p), nil
}
