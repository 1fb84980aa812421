package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/goulfm/goulfm/internal/testing/mutants"
	"github.com/goulfm/goulfm/internal/testing/mutants/edits"
)

// hunt builds the hunter with a bug planted and runs it.
func (j job) hunt(e edits.Edit) (mutants.Finding, error) {
	dir, err := os.MkdirTemp("", "hunter")
	if err != nil {
		return mutants.Finding{}, err
	}
	defer os.RemoveAll(dir)
	hunter := filepath.Join(dir, "hunter")
	if err := e.Build(j.root, "internal/testing/mutants/hunter", hunter); err != nil {
		return mutants.Finding{}, err
	}
	return runHunter(hunter, mutants.Hunt{Arena: e.Hunt.Arena, NMax: e.Hunt.NMax, First: j.seed, Time: j.limit, Workers: j.workers})
}

func runHunter(hunter string, h mutants.Hunt) (f mutants.Finding, err error) {
	out, err := exec.Command(hunter, "-arena", h.Arena, "-nmax", fmt.Sprint(h.NMax), "-seed", fmt.Sprint(h.First),
		"-runs", fmt.Sprint(h.Runs), "-time", h.Time.String(), "-workers", fmt.Sprint(h.Workers)).Output()
	if err != nil {
		return f, fmt.Errorf("hunter: %w", err)
	}
	return f, json.Unmarshal(out, &f)
}
