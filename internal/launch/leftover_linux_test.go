package launch

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestOutputIsReadLate: the timeout is for the ranks and what they leave behind, not for
// people who read later what was printed.
func TestOutputIsReadLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(&Spec{Timeout: time.Second, Stderr: io.Discard})
		j.schedule()
		close(j.ended)
		close(j.childless)
		read := make(chan struct{})
		j.carrying.Go(func() { <-read })
		settled := make(chan struct{})
		go func() { j.settle(); close(settled) }()
		time.Sleep(time.Minute)
		assert.False(t, j.ending, j.why)
		close(read)
		<-settled
		close(j.settled)
		j.rep.end(j.verdict(), j.hurry)
	})
}

// TestOutputThatNobodyReads keeps a job that was stopped for a second, not for ever.
func TestOutputThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJob(&Spec{Stderr: io.Discard})
		close(j.ended)
		close(j.childless)
		read := make(chan struct{})
		j.carrying.Go(func() { <-read })
		settled := make(chan struct{})
		go func() { j.settle(); close(settled) }()
		time.Sleep(time.Minute)
		j.stop(ExitTimeout, "the test")
		begun := time.Now()
		<-settled
		assert.Equal(t, outputMax, time.Since(begun))
		close(read)
		close(j.settled)
		j.rep.end(j.verdict(), j.hurry)
	})
}
