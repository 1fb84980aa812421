package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A spec describes a peer; the package comment describes each field.
type spec struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Compile string         `json:"compile"`
	Run     string         `json:"run"`
	FT      string         `json:"ft"`
	TCP     string         `json:"tcp"`
	Cgo     string         `json:"cgo"`
	Shmem   string         `json:"shmem"`
	Dir     string         `json:"dir"`
	Inside  string         `json:"inside"`
	MaxN    map[string]int `json:"max_n"`
}

// specs are all peers that were named anywhere, the peers of the file first.
func (o options) specs() ([]spec, error) {
	var all []spec
	if o.peersFile != "" {
		data, err := os.ReadFile(o.peersFile)
		if err != nil {
			return nil, err
		}
		if all, err = readSpecs(data); err != nil {
			return nil, fmt.Errorf("%s: %w", o.peersFile, err)
		}
	}
	all = append(all, o.peers...)
	return all, checkSpecs(all)
}

func readSpecs(data []byte) ([]spec, error) {
	var all []spec
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&all); err != nil {
		return nil, err
	}
	return all, nil
}

var nameOK = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)

func checkSpecs(all []spec) error {
	names := []string{oursName}
	for _, s := range all {
		if !nameOK.MatchString(s.Name) || slices.Contains(names, s.Name) {
			return fmt.Errorf("the peer %q needs a name of its own, of small letters, digits, dots and dashes", s.Name)
		}
		names = append(names, s.Name)
		for _, c := range []struct {
			field, text string
			must        []string
		}{
			{"compile", s.Compile, []string{"{src}", "{out}"}},
			{"run", s.Run, []string{"{n}", "{prog}", "{args}"}},
			{"cgo", s.Cgo, []string{"{out}", "{pkg}"}},
			{"shmem", s.Shmem, []string{"{src}", "{out}"}},
		} {
			if c.text == "" && (c.field == "cgo" || c.field == "shmem") {
				continue
			}
			for _, m := range c.must {
				if !strings.Contains(c.text, m) {
					return fmt.Errorf("peer %s: %s %q lacks %s", s.Name, c.field, c.text, m)
				}
			}
		}
		if s.TCP != "" && !strings.Contains(s.Run, "{tcp}") {
			return fmt.Errorf("peer %s: run %q lacks {tcp}, where what tcp says is to stand", s.Name, s.Run)
		}
		if (s.Dir == "") != (s.Inside == "") {
			return fmt.Errorf("peer %s: dir and inside are the two names of one folder: want both or none", s.Name)
		}
		for suite := range s.MaxN {
			if !slices.Contains(suites, suite) {
				return fmt.Errorf("peer %s: max_n names no suite: %q", s.Name, suite)
			}
		}
	}
	return nil
}

// simple is a peer that needs nothing special.
func simple(name, mpicc, mpirun string) spec {
	return spec{Name: name, Compile: mpicc + " -O2 -o {out} {src}", Run: mpirun + " -n {n} {prog} {args}"}
}

// parsePeer reads NAME=MPICC:MPIRUN.
func parsePeer(s string) (spec, error) {
	name, rest, ok := strings.Cut(s, "=")
	mpicc, mpirun, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || mpicc == "" || mpirun == "" {
		return spec{}, fmt.Errorf("%q is not NAME=MPICC:MPIRUN", s)
	}
	return simple(name, mpicc, mpirun), nil
}

// takesPart reports whether the peer should run a task.
func (s spec) takesPart(t task) bool {
	if t.peerProgram() == shmemProgram && s.Shmem == "" {
		return false
	}
	most, limited := s.most(t.suite)
	return (!limited || t.n <= most) && (t.suite != overTCP || s.TCP != "")
}

// most is the bound of a suite, or the bound of the suite with the same program.
func (s spec) most(suite string) (n int, limited bool) {
	for _, name := range []string{suite, programOf(suite)} {
		if n, limited = s.MaxN[name]; limited {
			return n, true
		}
	}
	return 0, false
}

// compile is the command that makes a program of its source, both by their names inside.
func (s spec) compile(program string) string {
	command := s.Compile
	if program == shmemProgram {
		command = s.Shmem
	}
	src := filepath.Join(s.Inside, program+".c")
	return strings.NewReplacer("{src}", src, "{out}", s.inside(program)).Replace(command)
}

// cgo is the command that makes the Go twin; names are outside.
func (s spec) cgo(pkg, out string) string {
	return strings.NewReplacer("{pkg}", pkg, "{out}", out).Replace(s.Cgo)
}

// run is the command that runs a task; prog is a name inside.
func (s spec) run(t task, prog string) string {
	ft, tcp := "", ""
	if t.program() == "ulfm" {
		ft = s.FT
	}
	if t.suite == overTCP {
		tcp = s.TCP
	}
	return strings.NewReplacer("{ft}", ft, "{tcp}", tcp, "{n}", strconv.Itoa(t.n), "{prog}", prog, "{args}", strings.Join(t.args, " ")).Replace(s.Run)
}
