package remotedaemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBootstrapOfAnotherBuild: a daemon ends before it connects to its launcher, for any other
// content of the bootstrap, and names its intended node.
func TestBootstrapOfAnotherBuild(t *testing.T) {
	for text, want := range map[string]int{
		`{"build":7,"node":2,"heads":"one text","job":[]}`: 2,
		`{"job":1,"secret":"","node":1,"heads":[]}`:        1, // from before there was a build
	} {
		for node, want := range map[int]int{AsTold: want, 5: 5} {
			code, err := Run(t.Context(), strings.NewReader(text+"\n"), node, 0)
			assert.Equal(t, 3, code)
			require.ErrorIs(t, err, buildid.ErrAnother)
			assert.EqualError(t, err, fmt.Sprintf("node %d has another build of goulfm: install the same one on all nodes", want))
		}
	}
	for _, text := range []string{"", "\n", "x\n", "{"} {
		code, err := Run(t.Context(), strings.NewReader(text), AsTold, 0)
		assert.Equal(t, 2, code)
		assert.ErrorContains(t, err, "goulfm daemon is started by goulfm run --host")
	}
}
