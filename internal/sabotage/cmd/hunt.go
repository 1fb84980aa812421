package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/goulfm/goulfm/internal/sabotage"
	"github.com/goulfm/goulfm/internal/sabotage/edits"
)

// hunt builds the hunter with a bug planted and runs it.
func (j job) hunt(e edits.Edit) (sabotage.Finding, error) {
	dir, err := os.MkdirTemp("", "hunter")
	if err != nil {
		return sabotage.Finding{}, err
	}
	defer os.RemoveAll(dir)
	hunter := filepath.Join(dir, "hunter")
	if err := e.Build(j.root, "internal/sabotage/hunter", hunter); err != nil {
		return sabotage.Finding{}, err
	}
	return runHunter(hunter, sabotage.Hunt{Arena: e.Hunt.Arena, NMax: e.Hunt.NMax, First: j.seed, Time: j.limit, Workers: j.workers})
}

func runHunter(hunter string, h sabotage.Hunt) (f sabotage.Finding, err error) {
	out, err := exec.Command(hunter, "-arena", h.Arena, "-nmax", fmt.Sprint(h.NMax), "-seed", fmt.Sprint(h.First),
		"-runs", fmt.Sprint(h.Runs), "-time", h.Time.String(), "-workers", fmt.Sprint(h.Workers)).Output()
	if err != nil {
		return f, fmt.Errorf("hunter: %w", err)
	}
	return f, json.Unmarshal(out, &f)
}
