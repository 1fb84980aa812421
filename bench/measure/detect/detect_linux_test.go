package detect

import (
	"testing"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-n 3 -runs 1 -touch 4 -busy -repair": true, "-rank": true, "-n 2": false, "-runs 0": false, "-touch -1": false, "x": false, "-frob": false,
	})
}
