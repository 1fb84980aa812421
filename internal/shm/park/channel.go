package park

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Channels is the twin of Futex for ranks that are goroutines of one process.
// Its sleepers wait on channels, so a testing/synctest bubble sees them wait.
type Channels struct {
	mu       sync.Mutex
	sleepers map[*uint32][]chan struct{}
}

// NewChannels returns a Sleeper for words on the Go heap.
func NewChannels() *Channels { return &Channels{sleepers: map[*uint32][]chan struct{}{}} }

// Sleep implements Sleeper.
func (c *Channels) Sleep(word *uint32, old uint32, timeout mono.Duration) {
	woken := make(chan struct{})
	c.mu.Lock()
	if atomic.LoadUint32(word) != old {
		c.mu.Unlock()
		return
	}
	c.sleepers[word] = append(c.sleepers[word], woken)
	c.mu.Unlock()
	if timeout < 0 {
		<-woken
		return
	}
	timer := time.NewTimer(time.Duration(timeout))
	defer timer.Stop()
	select {
	case <-woken:
	case <-timer.C:
		c.leave(word, woken)
	}
}

func (c *Channels) leave(word *uint32, me chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.DeleteFunc(c.sleepers[word], func(ch chan struct{}) bool { return ch == me })
	if len(list) == 0 {
		delete(c.sleepers, word)
		return
	}
	c.sleepers[word] = list
}

// Wake implements Sleeper.
func (c *Channels) Wake(word *uint32) {
	c.mu.Lock()
	list := c.sleepers[word]
	delete(c.sleepers, word)
	c.mu.Unlock()
	for _, woken := range list {
		close(woken)
	}
}

// Move implements Sleeper.
func (c *Channels) Move(word, to *uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if list := c.sleepers[word]; len(list) > 0 {
		delete(c.sleepers, word)
		c.sleepers[to] = append(c.sleepers[to], list...)
	}
}

// Yield implements Sleeper.
func (c *Channels) Yield() { runtime.Gosched() }
