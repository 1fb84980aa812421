package server

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/ckptset"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/subprocess"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Manifest names a checkpoint of a call.
type Manifest struct {
	Attempt int
	Number  int // of this attempt's checkpoints, from 1
	Bytes   int64
	Key     string // in the store
}

// checkpoints is the state of a call for its checkpoints.
type checkpoints struct {
	mu       sync.Mutex
	dir      string // "": not made yet
	writer   *ckptset.Writer
	files    []ckptset.Source
	state    map[string]any    // pointers
	values   map[string][]byte // of the restored checkpoint
	restored *ckptset.Manifest
	every    time.Duration
	due      time.Time
	closed   bool // the body has returned
	socket   *socket
}

// FileOption changes how a file is registered.
type FileOption func(*ckptset.Source)

// AsRestart makes the file a program that runs before the body when the call continues at another
// server: in Dir, after all files were restored.
func AsRestart() FileOption { return func(s *ckptset.Source) { s.Kind = ckptset.Script } }

// Dir returns the folder of this attempt's files, which is deleted when the body returns.
func (c *Call) Dir() (string, error) {
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	return c.makeDir()
}

func (c *Call) makeDir() (string, error) {
	if c.ckpt.dir != "" {
		return c.ckpt.dir, nil
	}
	dir := filepath.Join(c.server.workDir(), fmt.Sprintf("%s-%d", c.ID, c.Attempt))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", c.fail(err)
	}
	c.ckpt.dir = dir
	return dir, nil
}

func (c *Call) fail(err error) error {
	return &gridrpc.Error{Op: "checkpoint", Server: c.Server(), Attempt: c.Attempt, Err: gridrpc.ErrCheckpoint, Text: err.Error()}
}

// RegisterFile makes a file a part of all checkpoints from now on. The path is relative to Dir.
// The file has to exist when a checkpoint is made.
func (c *Call) RegisterFile(path string, o ...FileOption) error {
	if !filepath.IsLocal(path) {
		return c.fail(fmt.Errorf("%q leads out of the folder of the call", path))
	}
	s := ckptset.Source{Name: filepath.Clean(path), Kind: ckptset.File}
	for _, f := range o {
		f(&s)
	}
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	c.ckpt.files = slices.DeleteFunc(c.ckpt.files, func(o ckptset.Source) bool { return o.Name == s.Name })
	c.ckpt.files = append(c.ckpt.files, s)
	return nil
}

// ForgetFile removes a file from all checkpoints from now on. The file itself stays.
func (c *Call) ForgetFile(path string) {
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	name := filepath.Clean(path)
	c.ckpt.files = slices.DeleteFunc(c.ckpt.files, func(s ckptset.Source) bool { return s.Name == name })
}

// State makes *p a part of all checkpoints from now on. If this attempt continues from a
// checkpoint with a state of that name, State reads the state into *p. A state has a type that
// package gob encodes.
func (c *Call) State(name string, p any) error {
	if !discovery.NameForm.MatchString(name) {
		return c.fail(fmt.Errorf("state %q: a name is %s", name, discovery.NameForm))
	}
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	if data, ok := c.ckpt.values[name]; ok {
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(p); err != nil {
			return c.fail(fmt.Errorf("state %q: %w", name, err))
		}
	}
	if c.ckpt.state == nil {
		c.ckpt.state = map[string]any{}
	}
	c.ckpt.state[name] = p
	return nil
}

// Restored returns the checkpoint from which this attempt continues, and whether there is one.
func (c *Call) Restored() (Manifest, bool) {
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	if c.ckpt.restored == nil {
		return Manifest{}, false
	}
	return manifestOf(*c.ckpt.restored), true
}

func manifestOf(m ckptset.Manifest) Manifest {
	return Manifest{Attempt: m.Attempt, Number: m.Number, Bytes: m.Bytes(), Key: m.Key()}
}

// Notify stores a checkpoint of the registered files, and returns when the store has the
// checkpoint. The states in it are those of the latest CheckpointNow of this attempt, or of the
// restored checkpoint. After an error the previous checkpoint stays: the call continues with less
// protection.
func (c *Call) Notify(ctx context.Context) (Manifest, error) {
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	return c.store(ctx)
}

// CheckpointNow stores a checkpoint of all states and registered files, and returns when the store
// has the checkpoint. The body must not change the states meanwhile.
func (c *Call) CheckpointNow(ctx context.Context) (Manifest, error) {
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	values := map[string][]byte{}
	for name, p := range c.ckpt.state {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(p); err != nil {
			return Manifest{}, c.fail(fmt.Errorf("state %q: %w", name, err))
		}
		values[name] = b.Bytes()
	}
	before := c.ckpt.values
	c.ckpt.values = values
	m, err := c.store(ctx)
	if err != nil {
		c.ckpt.values = before
	}
	return m, err
}

// CheckpointEvery makes Due true whenever d has passed since the latest checkpoint, until stop
// is called.
func (c *Call) CheckpointEvery(d time.Duration) (stop func()) {
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	c.ckpt.every, c.ckpt.due = d, time.Now().Add(d)
	return func() {
		c.ckpt.mu.Lock()
		defer c.ckpt.mu.Unlock()
		c.ckpt.every = 0
	}
}

// Due reports whether a checkpoint is due.
func (c *Call) Due() bool {
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	return c.ckpt.every > 0 && !time.Now().Before(c.ckpt.due)
}

// store makes a checkpoint. The caller holds the lock.
func (c *Call) store(ctx context.Context) (Manifest, error) {
	if c.server.store == nil {
		return Manifest{}, &gridrpc.Error{Op: "checkpoint", Server: c.Server(), Err: gridrpc.ErrUnsupported, Text: "the platform has no store: see gridrpc up --store"}
	}
	if c.ckpt.closed {
		return Manifest{}, c.fail(errors.New("the body has returned"))
	}
	if c.ckpt.writer == nil {
		c.ckpt.writer = ckptset.NewWriter(c.server.store, c.ID, c.Attempt)
	}
	dir, err := c.makeDir()
	if err != nil {
		return Manifest{}, err
	}
	sources := slices.Clone(c.ckpt.files)
	for name, data := range c.ckpt.values {
		sources = append(sources, ckptset.Source{Name: name, Kind: ckptset.Value, Data: data})
	}
	m, err := c.ckpt.writer.Commit(ctx, dir, sources)
	if err != nil {
		c.Log.Printf("call %.8s continues without a new checkpoint: %v", c.ID, err)
		return Manifest{}, c.fail(err)
	}
	c.ckpt.due = time.Now().Add(c.ckpt.every)
	told := &pb.Checkpointed{Attempt: uint32(m.Attempt), Seq: uint32(m.Number), Key: m.Key(), Size: uint64(m.Bytes()), Hosts: c.locate(ctx, m)}
	c.attempt.update(func() {
		c.attempt.latest = told
	})
	return manifestOf(m), nil
}

// locateWithin bounds the time in which a store locates a checkpoint.
const locateWithin = time.Second

// locate returns the machines that have a checkpoint. Its manifest stands for its chunks, which a
// store has on the same machines. If these are unknown, all servers count as equally near.
func (c *Call) locate(ctx context.Context, m ckptset.Manifest) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, locateWithin)
	defer cancel()
	hosts, err := checkpoint.Locate(ctx, c.server.store, m.Key())
	if err != nil {
		c.Log.Printf("call %.8s has checkpoint %s, which the store cannot locate: %v", c.ID, m.Key(), err)
	}
	for _, h := range hosts {
		names = append(names, string(h))
	}
	return names
}

// storeWithin bounds requests to a store outside of bodies.
const storeWithin = time.Minute

// restore restores the newest whole checkpoint of an earlier attempt. Without a checkpoint the
// body begins from the start.
func (c *Call) restore(ctx context.Context) error {
	if c.Attempt == 1 || c.server.store == nil {
		return nil
	}
	all, err := ckptset.List(ctx, c.server.store, c.ID)
	if err != nil || len(all) == 0 && c.known != "" {
		c.Log.Printf("call %.8s begins from the start, not from %s: the store has none (%v)", c.ID, c.known, err)
	}
	if len(all) == 0 {
		return nil
	}
	dir, err := c.Dir()
	if err != nil {
		return err
	}
	for _, id := range all {
		if id.Attempt >= c.Attempt {
			continue
		}
		m, err := ckptset.Load(ctx, c.server.store, id)
		if err == nil {
			c.ckpt.values, err = m.Restore(ctx, c.server.store, dir)
		}
		if err == nil {
			c.goOnFrom(m)
			return c.runScripts(ctx, dir)
		}
		c.Log.Printf("call %.8s cannot go on from checkpoint %d.%d: %v", c.ID, id.Attempt, id.Number, err)
	}
	return nil
}

// goOnFrom makes all files of a checkpoint a part of the next checkpoints.
func (c *Call) goOnFrom(m ckptset.Manifest) {
	c.ckpt.restored = &m
	for _, p := range m.Pieces {
		if p.Kind != ckptset.Value {
			c.ckpt.files = append(c.ckpt.files, ckptset.Source{Name: p.Name, Kind: p.Kind})
		}
	}
}

// runScripts runs the restart scripts. One that fails is an error of the body.
func (c *Call) runScripts(ctx context.Context, dir string) error {
	for _, s := range c.ckpt.files {
		if s.Kind != ckptset.Script {
			continue
		}
		cmd := exec.CommandContext(ctx, filepath.Join(dir, s.Name))
		subprocess.EndWithParent(cmd)
		cmd.Dir = dir
		cmd.WaitDelay = time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("restart script %s: %w: %.200s", s.Name, err, out)
		}
	}
	return nil
}

// close deletes the files of the call in this process's folder.
func (c *Call) close() {
	c.ckpt.mu.Lock()
	defer c.ckpt.mu.Unlock()
	c.ckpt.closed = true
	if c.ckpt.socket != nil {
		c.ckpt.socket.close()
	}
	if c.ckpt.dir != "" {
		if err := os.RemoveAll(c.ckpt.dir); err != nil {
			c.Log.Print(err)
		}
	}
}

// removeCheckpoints deletes those of a call that has ended.
func (s *Server) removeCheckpoints(call string) {
	if s.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeWithin)
	defer cancel()
	if err := ckptset.Remove(ctx, s.store, call); err != nil && !errors.Is(err, context.Canceled) {
		s.log.Printf("call %.8s has ended, and its checkpoints stay: %v", call, err)
	}
}

// workDir is where the folders of this server's calls are.
func (s *Server) workDir() string { return filepath.Join(s.dir, "work", s.me.Name) }
