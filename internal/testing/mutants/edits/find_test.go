package edits

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestTestsFindBugs: with a rule of the protocols left out the tests of its package fail,
// too, for the reason that the rule is there for; and scripts show what goes wrong. (What
// only tests find is hunted by make sabotage.)
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
