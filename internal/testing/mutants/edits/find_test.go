package edits

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestTestsFindBugs: without a rule of the protocols the tests of its package fail, too, with
// the message that the rule is there to prevent; and scripts show the resulting fault. Outside of
// long runs each 24th is tried. (make sabotage hunts the bugs that only tests find.)
func TestTestsFindBugs(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("compiles a test program for each bug")
	}
	root, err := Root()
	require.NoError(t, err)
	n := 0
	for _, e := range All() {
		if e.Hunt.Arena == "" {
			continue
		}
		for i, test := range e.Tests {
			if n++; !longtest.Row(n, 24) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", e.Name, i), func(t *testing.T) {
				f, err := e.Try(root, test)
				require.NoError(t, err)
				assert.NotEmpty(t, f.By, "%+v\n%s", test, f.Output)
				t.Logf("%s in %v", f.By, f.Took)
			})
		}
	}
}
