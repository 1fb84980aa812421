package comm

import (
	"slices"
	"testing"
)

// TestWaitingLines: of each goroutine that waits in the engine the line of the program.
func TestWaitingLines(t *testing.T) {
	const stacks = `goroutine 1 [syscall]:
github.com/goulfm/goulfm/internal/shm/park.Futex.Sleep(0x1, 0x2)
	/src/goulfm/internal/shm/park/futex.go:10 +0x1
github.com/goulfm/goulfm/internal/engine.(*leadership).await(0x1)
	/src/goulfm/internal/engine/lead.go:120 +0x1
github.com/goulfm/goulfm/comm.Recv[...]({0x1, 0x2})
	/src/goulfm/comm/p2p.go:20 +0x1
main.exchange(...)
	/home/me/heat/heat.go:88
main.main.func1({0x1, 0x2})
	/home/me/heat/main.go:20 +0x1

goroutine 7 [select]:
github.com/goulfm/goulfm/internal/engine.(*Proc).background(0x1)
	/src/goulfm/internal/engine/lead.go:340 +0x1
created by github.com/goulfm/goulfm/internal/engine.New in goroutine 1
	/src/goulfm/internal/engine/engine.go:200 +0x1

goroutine 9 [running]:
main.compute()
	/home/me/heat/heat.go:99 +0x1

goroutine 11 [chan receive]:
github.com/goulfm/goulfm/internal/engine.(*leadership).await(0x1)
	/src/goulfm/internal/engine/lead.go:130 +0x1
github.com/goulfm/goulfm/collectives.Barrier({0x1, 0x2})
	/src/goulfm/collectives/barrier.go:20 +0x1
github.com/goulfm/goulfm/examples/heat.step()
	/src/goulfm/examples/heat/step.go:7 +0x1
created by main.main in goroutine 1
	/home/me/heat/main.go:30 +0x1`
	if got, want := waitingLines(stacks), []string{"heat.go:88", "step.go:7"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
