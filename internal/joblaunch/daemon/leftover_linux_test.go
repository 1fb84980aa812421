package daemon

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// endedDaemon returns a daemon without live processes, with some output that is not read yet.
func endedDaemon() (d *Daemon, read chan struct{}) {
	d = newDaemon(&record{})
	close(d.ended)
	close(d.childless)
	read = make(chan struct{})
	d.carriers.Go(func() { <-read })
	return d, read
}

// TestOutputIsReadLate: the end waits for readers that read the output later.
func TestOutputIsReadLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, read := endedDaemon()
		drained := make(chan struct{})
		go func() { d.EndLeftovers(); d.Drain(); close(drained) }()
		time.Sleep(time.Minute)
		select {
		case <-drained:
			assert.Fail(t, "output is not read")
		default:
		}
		close(read)
		<-drained
	})
}

// TestOutputThatNobodyReads keeps a job that was ended for a second, not for ever.
func TestOutputThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, read := endedDaemon()
		drained := make(chan struct{})
		go func() { d.EndLeftovers(); d.Drain(); close(drained) }()
		time.Sleep(time.Minute)
		d.KillAll()
		begun := time.Now()
		<-drained
		assert.Equal(t, OutputMax, time.Since(begun))
		close(read)
	})
}
