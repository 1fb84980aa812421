package enginejob

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/rm"
)

// TestSilentServer: a PMI server that never answers has the time of GOULFM_START_TIMEOUT, and the
// error names it.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	t.Setenv("PMI_PORT", l.Addr().String())
	t.Setenv("PMI_ID", "0")
	t.Setenv("PMI_FD", "")
	t.Setenv(timeoutVariable, "300ms")
	begun := time.Now()
	_, _, err = askInTime(t.Context(), rm.Claim{Engine: rm.PMI})
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	assert.ErrorContains(t, err, "no answer within 300ms (GOULFM_START_TIMEOUT)")
	assert.ErrorContains(t, err, "the engine's process on this node (hydra_pmi_proxy, slurmstepd) does not answer")
	assert.Less(t, time.Since(begun), 25*time.Second, "30 s are those of a request")
}
