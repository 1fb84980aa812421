package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goulfm/goulfm/internal/joblaunch/launch"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

const checkpointUsage = `usage: goulfm checkpoint ls DIR                list the versions in a folder, complete or not
       goulfm checkpoint verify DIR [VERSION...]  read all bytes of versions, or of all published ones
       goulfm checkpoint rm DIR VERSION...        delete versions

  goulfm run -n 4 ./heat -dir DIR     a job that leaves versions
  goulfm checkpoint ls DIR
  goulfm checkpoint verify DIR

Arguments:
  DIR       folder of recovery.Files
  VERSION   JOB-EPOCH-NUMBER, as ls prints it

A job continues from its newest complete version, or from that of the variable GOULFM_RESTART.

Exit code: 0, 1 when a version is damaged or missing, 2 usage.
`

// checkpoints is goulfm checkpoint.
func checkpoints(ctx context.Context, args []string, out, errs io.Writer) int {
	if len(args) > 0 && (args[0] == "help" || args[0] == "-h" || args[0] == "--help" || args[0] == "-help") {
		fmt.Fprint(out, checkpointUsage)
		return 0
	}
	if len(args) < 2 {
		fmt.Fprint(errs, checkpointUsage)
		return launch.ExitUsage
	}
	verb, dir, names := args[0], args[1], args[2:]
	c := &folder{ctx: ctx, store: checkpoint.Dir(dir), out: out}
	var err error
	switch {
	case verb == "ls" && len(names) == 0:
		err = c.list(dir)
	case verb == "verify":
		err = c.verify(dir, names)
	case verb == "rm" && len(names) > 0:
		err = c.remove(dir, names)
	default:
		fmt.Fprint(errs, checkpointUsage)
		return launch.ExitUsage
	}
	if err != nil {
		fmt.Fprintf(errs, "goulfm checkpoint %s: %v\n", verb, err)
		return 1
	}
	return 0
}

// A folder is a folder of checkpoints.
type folder struct {
	ctx   context.Context
	store checkpoint.Store
	out   io.Writer
}

// versions returns the versions in the folder. A missing folder is an error here, because its name
// is probably mistyped.
func (c *folder) versions(dir string) ([]checkpoint.Version, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	return checkpoint.List(c.ctx, c.store)
}

func (c *folder) list(dir string) error {
	all, err := c.versions(dir)
	if err != nil {
		return err
	}
	for _, v := range all {
		fmt.Fprintf(c.out, "%-24s %5s ranks %12d bytes  %s\n", v.Name(), ranks(v), v.Bytes, state(v.Err))
	}
	return nil
}

func ranks(v checkpoint.Version) string {
	if v.Ranks == 0 {
		return "?"
	}
	return fmt.Sprint(v.Ranks)
}

func state(err error) string {
	switch {
	case err == nil:
		return "whole"
	case errors.Is(err, checkpoint.ErrIncomplete):
		return "not published"
	}
	return strings.TrimPrefix(err.Error(), "checkpoint: ")
}

// named returns the versions with these names, or all versions if there are no names.
func (c *folder) named(dir string, names []string) ([]checkpoint.Version, error) {
	all, err := c.versions(dir)
	if err != nil || len(names) == 0 {
		return all, err
	}
	byName := map[string]checkpoint.Version{}
	for _, v := range all {
		byName[v.Name()] = v
	}
	var chosen []checkpoint.Version
	for _, name := range names {
		v, has := byName[name]
		if !has {
			return nil, fmt.Errorf("%s: no such version in %s (goulfm checkpoint ls)", name, dir)
		}
		chosen = append(chosen, v)
	}
	return chosen, nil
}

// verify prints a result for each version. Versions that were not published are skipped, unless the
// user names them.
func (c *folder) verify(dir string, names []string) error {
	all, err := c.named(dir, names)
	if err != nil {
		return err
	}
	bad := 0
	for _, v := range all {
		err := checkpoint.Verify(c.ctx, c.store, v)
		if errors.Is(err, checkpoint.ErrIncomplete) && len(names) == 0 {
			continue
		}
		if err != nil {
			bad++
		}
		fmt.Fprintf(c.out, "%-24s %s\n", v.Name(), state(err))
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d versions cannot be restored", bad, len(all))
	}
	return nil
}

func (c *folder) remove(dir string, names []string) error {
	all, err := c.named(dir, names)
	if err != nil {
		return err
	}
	for _, v := range all {
		if err := checkpoint.Remove(c.ctx, c.store, v); err != nil {
			return err
		}
	}
	return nil
}
