package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/segment"
	"github.com/goulfm/goulfm/internal/transport/inproc"
)

// TestDeclaredDeathWakesSleepers: where a declared process may run on no daemon wakes the sleepers of the node. A process has
// taken the flag of a sleeper down and has died before it woke it: the death that is declared here does.
func TestDeclaredDeathWakesSleepers(t *testing.T) {
	world := inproc.New(3)
	p := New(world.Port(0), Config{SpinPolls: 20, Tick: time.Hour, Fence: true})
	defer p.Close()
	sleeper := world.Port(1).Node
	bell, woken := sleeper.Doorbell(1), make(chan struct{})
	go func() {
		sleeper.Sleep(park.Caller, func() bool { return false }, -1)
		close(woken)
	}()
	for segment.Load32(bell)&park.Caller == 0 {
		sleeper.Yield()
	}
	park.Lower(bell, park.Caller)
	before := sleeper.Epoch()
	p.mu.Lock()
	p.rules.step(control.Lost{Proc: 2})
	p.mu.Unlock()
	<-woken
	assert.Greater(t, sleeper.Epoch(), before, "who is about to sleep looks at everything once")
}
