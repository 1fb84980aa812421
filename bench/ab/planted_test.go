package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/harness/job"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

var (
	long        = flag.Bool("long", false, "also measure builds with planted delays, which takes some minutes on a quiet machine")
	plantsPairs = flag.Int("pairs", 15, "pairs of turns for each row")
)

// A plant is an edit that makes some rows slower by 40 %.
type plant struct {
	name      string
	only      string // flags that choose the rows to measure
	slow      string // the rows that have to fail, as -only has them
	file      string // in the module
	old, edit string
	// figure is the row of which the delay is a share: its median in us stands for %d in edit, as
	// ns. Nil: the edit knows.
	figure *row
}

const spin = "for begun := time.Now(); time.Since(begun) < %d; {\n}"

var plants = []plant{
	{
		name: "Shrink", only: "-only agree,ack_agree,shrink,revoke -n 4", slow: "shrink,nodes_shrink",
		file: "comm/fault.go",
		old:  "_, made, err := c.e.Call(ctx, commstate.Call{Kind: commstate.KindShrink}, engine.Contribution{}, \"shrink\")",
		// A timer of the runtime would come a millisecond late.
		edit: "begun := time.Now()\n\t_, made, err := c.e.Call(ctx, commstate.Call{Kind: commstate.KindShrink}, engine.Contribution{}, \"shrink\")\n" +
			"\tdelay := syscall.NsecToTimespec(time.Since(begun).Nanoseconds() * 2 / 5)\n\t_ = syscall.Nanosleep(&delay, nil)",
	},
	{
		name: "put", only: "-only rma", slow: "put",
		file:   "rma/win.go",
		old:    "return t.k.raise(t.k.put(ctx, \"put\"",
		edit:   "if len(src) == 64<<10/8 {\n" + spin + "\n}\nreturn t.k.raise(t.k.put(ctx, \"put\"",
		figure: &row{"rma_put", 2, 64 * kib},
	},
	{
		name: "message", only: "-only latency", slow: "latency",
		file:   "comm/p2p.go",
		old:    "env.Rank = to.c.inner(to.rank)\n\tif err := to.c.e.Send(",
		edit:   "if len(buf) == 16<<10 {\n" + spin + "\n}\nenv.Rank = to.c.inner(to.rank)\n\tif err := to.c.e.Send(",
		figure: &row{"latency", 2, 16 * kib},
	},
}

// TestPlantedDelays: for each delay of 40 % the rows of the slower operation fail, and no others.
func TestPlantedDelays(t *testing.T) {
	if !*long {
		t.Skip("measures builds for some minutes: -long, or make ab-test")
	}
	root, err := job.Root(t.Context())
	require.NoError(t, err)
	w, err := newWorkshop(root, os.Stderr)
	require.NoError(t, err)
	t.Cleanup(w.close)
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) { p.hunt(t, w) })
	}
}

func (p plant) hunt(t *testing.T, w *workshop) {
	o := mustParse(t, p.only)
	base, err := w.side(t.Context(), p.name+"-base", "", "", o.programs())
	require.NoError(t, err)
	m := &meter{base: base, pairs: *plantsPairs, progress: os.Stderr}
	overlay := p.overlay(t, w.root, p.delay(t, m, o))
	m.head, err = w.side(t.Context(), p.name, "", overlay, o.programs())
	require.NoError(t, err)

	var out strings.Builder
	err = m.judge(t.Context(), o.families(), true, &out)
	t.Log(out.String())
	var want []string
	for _, r := range p.slowRows(o) {
		want = append(want, r.String())
	}
	require.Error(t, err, "the planted delay was not found")
	_, named, _ := strings.Cut(err.Error(), ":\n\t")
	assert.Equal(t, want, strings.Split(named, "\n\t"))
}

// slowRows are those that have to fail: of the operation, with the size that is slower if there is
// one.
func (p plant) slowRows(o options) (rows []row) {
	slow := options{only: strings.Split(p.slow, ","), counts: o.counts}
	for _, f := range slow.families() {
		for _, r := range f.rows {
			if p.figure == nil || r == *p.figure {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// delay is 40 % of the figure of the row, in ns. One turn may be much faster than most.
func (p plant) delay(t *testing.T, m *meter, o options) int {
	if p.figure == nil {
		return 0
	}
	families := concerned(o.families(), []row{*p.figure})
	require.NotEmpty(t, families, "no row "+p.figure.String())
	var us []float64
	for range m.pairs {
		got, err := m.turn(t.Context(), m.base, families[0])
		require.NoError(t, err)
		us = append(us, got[*p.figure].value)
	}
	return int(record.Median(us) * 1000 * 2 / 5)
}

// overlay writes the file for go build -overlay.
func (p plant) overlay(t *testing.T, root string, delay int) string {
	file := filepath.Join(root, p.file)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), p.old), "the text to edit stands once in "+p.file)
	edit := p.edit
	if p.figure != nil {
		edit = fmt.Sprintf(edit, delay)
	}
	edited := strings.Replace(string(text), p.old, edit, 1)
	for _, name := range []string{"time", "syscall"} {
		line := fmt.Sprintf("\t%q\n", name)
		if strings.Contains(p.edit, name+".") && !strings.Contains(edited, line) {
			edited = strings.Replace(edited, "\t\"context\"\n", "\t\"context\"\n"+line, 1)
		}
	}
	other := filepath.Join(t.TempDir(), filepath.Base(p.file))
	require.NoError(t, os.WriteFile(other, []byte(edited), 0o600))
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{file: other}})
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(name, list, 0o600))
	return name
}

// TestPlantsFit: each edit still finds its text, and the rows that it makes slower are measured.
func TestPlantsFit(t *testing.T) {
	root, err := job.Root(t.Context())
	require.NoError(t, err)
	for _, p := range plants {
		p.overlay(t, root, 1)
		assert.NotEmpty(t, p.slowRows(mustParse(t, p.only)), p.name)
	}
}
