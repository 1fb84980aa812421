package launch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// stacksOfRank0 are stacks as the runtime prints them, after the state of the library.
const stacksOfRank0 = `process 0 of 2, dead {}, left {}
unexpected: 0 messages, 0 bytes
goroutine 7 [running]:
runtime/pprof.writeGoroutineStacks({0xbb8600, 0x1f3f09150780})
	/go/src/runtime/pprof/pprof.go:819 +0x6b
github.com/goulfm/goulfm/comm.(*world).dump(0x1f3f0915a000)
	/src/goulfm/comm/init.go:332 +0x24f
created by github.com/goulfm/goulfm/comm.begin in goroutine 1
	/src/goulfm/comm/init.go:185 +0x7b9

goroutine 9 [chan receive, 3 minutes]:
main.work.func1()
	/home/me/heat/main.go:14 +0x1
created by main.work in goroutine 1
	/home/me/heat/main.go:14 +0x2

goroutine 1 [syscall, 3 minutes, locked to thread]:
golang.org/x/sys/unix.SchedSetaffinity(...)
	/mod/golang.org/x/sys/unix/affinity_linux.go:44 +0x1
github.com/goulfm/goulfm/internal/engine.(*leadership).await(0x1)
	/src/goulfm/internal/engine/lead.go:120 +0x1
github.com/goulfm/goulfm/collectives.Reduce[...]({0x1, 0x2})
	/src/goulfm/collectives/reduce.go:20 +0x1
main.work({0x1, 0x2})
	/home/me/heat/main.go:20 +0x1
github.com/goulfm/goulfm/comm.guard(0x1)
	/src/goulfm/comm/init.go:411 +0x5a
main.main()
	/home/me/heat/main.go:8 +0x1

goroutine 10 [chan receive]:
main.work.func1()
	/home/me/heat/main.go:14 +0x9
created by main.work in goroutine 1
	/home/me/heat/main.go:14 +0x2

goroutine 25 [select]:
os/signal.NotifyContext.func1()
	/go/src/os/signal/signal.go:292 +0x7c
created by os/signal.NotifyContext in goroutine 1
	/go/src/os/signal/signal.go:291 +0x158
`

// rank1 is the same at a rank in which main computes.
var stacksOfRank1 = strings.Replace(stacksOfRank0, `golang.org/x/sys/unix.SchedSetaffinity(...)
	/mod/golang.org/x/sys/unix/affinity_linux.go:44 +0x1
github.com/goulfm/goulfm/internal/engine.(*leadership).await(0x1)
	/src/goulfm/internal/engine/lead.go:120 +0x1
github.com/goulfm/goulfm/collectives.Reduce[...]({0x1, 0x2})
	/src/goulfm/collectives/reduce.go:20 +0x1
`, "", 1)

// TestStacksAreGrouped: main comes first, equal stacks are one, and the library's own are left out.
func TestStacksAreGrouped(t *testing.T) {
	ranks := []rankStacks{{0, 70, stacksOfRank0}, {1, 71, stacksOfRank1}, {2, 72, stacksOfRank0}}
	assert.Equal(t, `goulfm: stacks of the program (-v adds those of the library):
ranks 0,2: 2 goroutines, main [syscall]:
    collectives.Reduce[...]  /src/goulfm/collectives/reduce.go:20
    main.work  /home/me/heat/main.go:20
    comm.guard  /src/goulfm/comm/init.go:411
    main.main  /home/me/heat/main.go:8
rank 1 (pid 71): 1 goroutine, main [syscall]:
    main.work  /home/me/heat/main.go:20
    comm.guard  /src/goulfm/comm/init.go:411
    main.main  /home/me/heat/main.go:8
ranks 0-2: 6 goroutines [chan receive]:
    main.work.func1  /home/me/heat/main.go:14
    created by main.work  /home/me/heat/main.go:14
`, stackText(ranks, false))
	assert.Empty(t, stackText(nil, false))
}

// TestVerboseStacks has the library's own goroutines, its inner calls and its state.
func TestVerboseStacks(t *testing.T) {
	text := stackText([]rankStacks{{1, 71, stacksOfRank1}, {0, 70, stacksOfRank0}}, true)
	for _, part := range []string{
		"rank 0 (pid 70), state of the library:\nprocess 0 of 2, dead {}, left {}\nunexpected: 0 messages, 0 bytes\n",
		"rank 0 (pid 70): 1 goroutine, main [syscall]:\n    golang.org/x/sys/unix.SchedSetaffinity  /mod",
		"ranks 0,1: 2 goroutines [select]:\n    os/signal.NotifyContext.func1  /go",
		"    created by comm.begin  /src/goulfm/comm/init.go:185\n",
	} {
		assert.Contains(t, text, part)
	}
}

// TestStacksThatWereCut: a truncated text, or one without stacks, is shown up to its end.
func TestStacksThatWereCut(t *testing.T) {
	for end := range len(stacksOfRank0) {
		stackText([]rankStacks{{0, 70, stacksOfRank0[:end]}}, true)
	}
	cut := stacksOfRank0[:strings.Index(stacksOfRank0, "main.main()")]
	assert.Contains(t, stackText([]rankStacks{{0, 70, cut}}, false), "    main.work  /home/me/heat/main.go:20\n")
	assert.Contains(t, stackText([]rankStacks{{0, 70, "(the progress lock is held)\n"}}, true), "(the progress lock is held)\n")
}

// TestFramesOfTheProgram: ofProgram distinguishes functions of the program from functions of the
// library.
func TestFramesOfTheProgram(t *testing.T) {
	for name, want := range map[string]bool{
		"main.main": true, "first/solve.Step": true, "example.com/x.(*T).F": true, "created by main.main": true,
		"github.com/goulfm/goulfm/examples/heat.step": true,
		"github.com/goulfm/goulfm/comm.Recv[...]":     false, "github.com/goulfm/goulfm/internal/engine.x": false,
		"time.Sleep": false, "os/signal.loop": false, "internal/poll.x": false, "golang.org/x/sys/unix.Futex": false, "": false,
	} {
		assert.Equal(t, want, frame{function: name}.ofProgram(), name)
	}
}

func TestSpans(t *testing.T) {
	assert.Equal(t, "0-2,5,6,8", spans([]int{0, 1, 2, 5, 6, 8}))
}
