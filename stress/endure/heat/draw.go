package heat

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// The kinds of cases.
const (
	one        = "one"
	together   = "two at once"
	inRepair   = "one in the repair of another"
	neighbours = "a block and its copy"
	three      = "three"
	four       = "four"
)

var kinds = []string{one, together, inRepair, neighbours, three, four}

// A drawn is the victims of one run and the moments of their deaths, in flags of the launcher.
type drawn struct {
	kind  string
	kills []string
}

// draw chooses victims among n ranks and moments in a run of the given number of steps and the
// given length.
func draw(rng *rand.Rand, kind string, n, steps int, long time.Duration) drawn {
	order := rng.Perm(n)
	// A moment is a step or a time; the time may hit any part of the run, including its start and
	// its end.
	moment := func() string {
		if rng.IntN(2) == 0 {
			return fmt.Sprintf("step=%d", 1+rng.IntN(steps))
		}
		return time.Duration(rng.Int64N(int64(long))).Round(time.Microsecond).String()
	}
	d := drawn{kind: kind}
	kill := func(rank int, when string) { d.kills = append(d.kills, trial.Kill(rank, when)...) }
	switch kind {
	case one:
		kill(order[0], moment())
	case together:
		when := moment()
		kill(order[0], when)
		kill(order[1], when)
	case inRepair:
		kill(order[0], moment())
		kill(order[1], "repair=1")
	case neighbours:
		when := moment()
		kill(order[0], when)
		kill((order[0]+1)%n, when) // this rank keeps the copy of order[0]'s block
	case three, four:
		count := 3
		if kind == four {
			count = 4
		}
		for _, rank := range order[:count] {
			kill(rank, moment())
		}
	}
	return d
}
