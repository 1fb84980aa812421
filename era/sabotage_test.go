package era

import (
	"testing"

	"github.com/goulfm/goulfm/internal/must"
)

// needsFlaws skips a test that leaves rules out where the build cannot.
func needsFlaws(t *testing.T) {
	t.Helper()
	if !must.Sabotage {
		t.Skip("needs -tags sabotage")
	}
}

// TestFlawsHaveNames: scripts and tables name flaws.
func TestFlawsHaveNames(t *testing.T) {
	names := map[string]bool{}
	for f := range flawCount {
		name := f.String()
		if name == "" || name == "unknown" || names[name] {
			t.Errorf("flaw %d is called %q", f, name)
		}
		names[name] = true
	}
	if flawCount.String() != "unknown" {
		t.Error("a flaw more than there are")
	}
}
