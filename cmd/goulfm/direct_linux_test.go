package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestDirect sends large messages from memory to memory in every way in which they
// can go, be given up or fail; the program checks each byte.
func TestDirect(t *testing.T) {
	direct := filepath.Join(t.TempDir(), "direct")
	build(t, direct, "./testdata/direct")
	for _, n := range []string{"2", "3"} {
		got := goulfmCommand(t, "", "run", "-q", "-n", n, "--timeout", "60s", direct)
		if got.code != 0 || got.out != "ok\n" {
			t.Errorf("%s ranks: code %d\n%s%s", n, got.code, got.out, got.err)
		}
	}
}

func build(t *testing.T, out, pkg string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}
