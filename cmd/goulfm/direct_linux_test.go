package main

import (
	"testing"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestDirect sends large messages from memory to memory in every way in which a transfer can
// complete, be withdrawn or fail. The program checks each byte.
func TestDirect(t *testing.T) {
	longtest.Skip(t, "every way of a large message")
	direct := build(t, "./testdata/direct")
	for _, n := range []string{"2", "3"} {
		got := goulfmCommand(t, "", "run", "-q", "-n", n, "--timeout", "60s", direct)
		if got.code != 0 || got.out != "ok\n" {
			t.Errorf("%s ranks: code %d\n%s%s", n, got.code, got.out, got.err)
		}
	}
}
