package fifo

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAllComesInOrder(t *testing.T) {
	var got []int
	b := New(func(items []int) error { got = append(got, items...); return nil })
	for i := range 1000 {
		b.Post(i)
	}
	b.Flush()
	assert.Len(t, got, 1000)
	for i, x := range got {
		assert.Equal(t, i, x)
	}
}

// TestNobodyWaits: a slow receiver blocks no sender, and PostIfIdle drops its item during a
// delivery.
func TestNobodyWaits(t *testing.T) {
	taking, goOn := make(chan bool), make(chan bool)
	var got []int
	b := New(func(items []int) error {
		got = append(got, items...)
		taking <- true
		<-goOn
		return nil
	})
	b.Post(1)
	<-taking
	b.PostIfIdle(2)
	b.Post(3)
	goOn <- true
	<-taking
	goOn <- true
	b.Flush()
	assert.Equal(t, []int{1, 3}, got)
}

// TestWhatCannotBeDelivered: a failed delivery shuts the box: later items are dropped, and Flush
// returns.
func TestWhatCannotBeDelivered(t *testing.T) {
	var got []int
	b := New(func(items []int) error { got = append(got, items...); return errors.New("gone") })
	b.Post(1)
	b.Flush()
	b.Post(2)
	b.Flush()
	assert.Equal(t, []int{1}, got)
}
