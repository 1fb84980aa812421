package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A peer is built from the sources under the peer's own path. A program that does not compile is
// noted and left out.
func TestPreparePeer(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "there")
	sources := filepath.Join(root, "bench", "peers")
	if err := os.MkdirAll(sources, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"p2p.c", "ulfm.c", "hello.c", "common.h"} {
		if err := os.WriteFile(filepath.Join(sources, f), []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := newDriver(1, &contender{name: oursName})
	d.root, d.only, d.counts = root, []string{"p2p", "ulfm", "start", "coll"}, []int{2}
	s := spec{Name: "a", Version: "echo one; echo two", Dir: dir, Inside: dir, MaxN: map[string]int{"coll": 0},
		Compile: "test {src} != " + dir + "/ulfm.c && cp {src} {out}", Run: "x {n} {prog} {args}"}
	if err := d.preparePeer(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	c := d.contenders[1]
	if !c.first || c.version != "one" || !slices.Equal(d.notes, []string{"a in suite ulfm: ulfm.c does not compile"}) {
		t.Errorf("%+v, notes %q", c, d.notes)
	}
	for suite, want := range map[string]bool{"p2p": true, "ulfm": false, "start": true, "coll": false} {
		if argv, able := c.command(task{suite: suite, n: 2}); able != want {
			t.Errorf("%s: %q %v", suite, argv, able)
		}
	}
	d.counts = []int{2}
	if !d.someoneToCompareWith() {
		t.Error("nobody to compare with")
	}
	if d.only = []string{"ulfm"}; d.someoneToCompareWith() {
		t.Error("somebody to compare what did not compile with")
	}
	argv, _ := c.command(task{suite: "start", n: 2})
	if want := "x 2 " + dir + "/hello.a "; argv[2] != want {
		t.Errorf("%q, want %q", argv[2], want)
	}
}
