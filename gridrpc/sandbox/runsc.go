package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/goulfm/goulfm/gridrpc/internal/subprocess"
)

// Folders and names in the folder of a call that are not part of images.
const (
	stateDir  = "state"  // of runsc
	bundleDir = "bundle" // the description of the container for runsc
	boxName   = "call"   // of the container
)

// tool is runsc, for one container.
type tool struct {
	path string
	dir  string // of the call
}

// command returns a command of runsc. The command ends with this process, and a container ends with
// the command that runs it.
func (t tool) command(ctx context.Context, words ...string) *exec.Cmd {
	flags := []string{
		"--root", filepath.Join(t.dir, stateDir), "--platform", "systrap", "--network", "none",
		"--ignore-cgroups", "--overlay2", "root:memory",
	}
	if os.Geteuid() != 0 {
		flags = append(flags, "--rootless")
	}
	cmd := exec.CommandContext(ctx, t.path, append(flags, words...)...)
	subprocess.EndWithParent(cmd)
	subprocess.OwnGroup(cmd)
	return cmd
}

// do runs a command to its end.
func (t tool) do(ctx context.Context, words ...string) error {
	if out, err := t.command(ctx, words...).CombinedOutput(); err != nil {
		return fmt.Errorf("sandbox: runsc %s: %w: %.300s", words[0], err, bytes.TrimSpace(out))
	}
	return nil
}

// start returns the command that runs the container, from an image if there is one.
func (t tool) start(ctx context.Context, image string) *exec.Cmd {
	words := []string{"run"}
	if image != "" {
		words = []string{"restore", "--image-path", image}
	}
	return t.command(ctx, append(words, "--bundle", filepath.Join(t.dir, bundleDir), boxName)...)
}

// The parts of config.json, by the runtime specification of the Open Container Initiative.
type (
	container struct {
		Version string  `json:"ociVersion"`
		Process process `json:"process"`
		Root    rootfs  `json:"root"`
		Mounts  []mount `json:"mounts"`
		Linux   linux   `json:"linux"`
	}
	process struct {
		User user     `json:"user"`
		Args []string `json:"args"`
		Env  []string `json:"env"`
		Cwd  string   `json:"cwd"`
	}
	user struct {
		UID int `json:"uid"`
		GID int `json:"gid"`
	}
	rootfs struct {
		Path     string `json:"path"`
		ReadOnly bool   `json:"readonly"`
	}
	mount struct {
		Destination string   `json:"destination"`
		Type        string   `json:"type"`
		Source      string   `json:"source"`
		Options     []string `json:"options,omitempty"`
	}
	linux struct {
		Namespaces []namespace `json:"namespaces"`
	}
	namespace struct {
		Type string `json:"type"`
	}
)

// containerOf returns the description of a program for runsc.
func containerOf(p Program) container {
	c := container{
		Version: "1.0.0",
		Process: process{Args: p.Args, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + Folder}, Cwd: Folder},
		Root:    rootfs{Path: "rootfs", ReadOnly: true},
		Mounts: []mount{
			{Destination: "/proc", Type: "proc", Source: "proc"},
			{Destination: "/tmp", Type: "tmpfs", Source: "tmpfs"},
			{Destination: Folder, Type: "tmpfs", Source: "tmpfs"},
		},
	}
	for _, path := range append(p.Read[:len(p.Read):len(p.Read)], p.Args[0]) {
		c.Mounts = append(c.Mounts, mount{Destination: path, Type: "bind", Source: path, Options: []string{"ro", "rbind"}})
	}
	for _, name := range []string{"pid", "network", "ipc", "uts", "mount"} {
		c.Linux.Namespaces = append(c.Linux.Namespaces, namespace{name})
	}
	return c
}

// describe writes the description of the container.
func (t tool) describe(c container) error {
	bundle := filepath.Join(t.dir, bundleDir)
	if err := os.MkdirAll(filepath.Join(bundle, c.Root.Path), 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bundle, "config.json"), data, 0o600)
}
