package bootauth

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExitCodesAreNotNeeded: the daemon of a node waits for all its children in one place. If
// that wait is faster, it takes the exit codes of these programs, too.
func TestExitCodesAreNotNeeded(t *testing.T) {
	p := annsMunge(t, "k")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			}
		}
	}()
	for range 4 {
		dialErr, acceptErr := prove(t, p, p)
		assert.NoError(t, dialErr)
		assert.NoError(t, acceptErr)
	}
	close(stop)
	<-ended
}
