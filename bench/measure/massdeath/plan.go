package massdeath

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A place is where a rank dies.
type place int

const (
	anywhere place = iota // at an instant after the start
	inWork                // at an instant after its phase has begun
	inRepair              // at an instant after the repair that ends its phase has begun
	atRevoke              // there, at a point: see the Marks of a member
	atShrink
)

// names are the names of the points.
var names = map[place]string{atRevoke: "revoke", atShrink: "shrink"}

// A death is the death of one rank. Phases count from 0; a repair ends each.
type death struct {
	where place
	phase int
	after time.Duration
	kill  bool // by the launcher; else the rank kills itself
}

const (
	waves     = 4                    // of deaths in repairs
	shortTime = 3 * time.Millisecond // about the time of a repair
)

// draw chooses the ranks that die. Every process draws the same.
func draw(o options) map[int]death {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	deaths := map[int]death{}
	for i, rank := range rng.Perm(o.n)[:o.dying()] {
		d := death{after: time.Duration(rng.Int64N(int64(o.span))), kill: rng.IntN(2) == 0}
		if o.kind == recovery {
			d = death{where: inWork, phase: i % waves, after: time.Duration(rng.Int64N(int64(shortTime)))}
			if i >= waves { // the earlier deaths end one phase each
				d.where = inWork + place(rng.IntN(4))
			}
			d.kill = names[d.where] != ""
		}
		deaths[rank] = d
	}
	return deaths
}

func (o options) dying() int {
	if o.kind == almost {
		return o.n - 1
	}
	return o.die
}

// flags are the flags with which the launcher kills.
func flags(deaths map[int]death, n int) (list []string) {
	for rank := range n {
		d, dies := deaths[rank]
		switch {
		case !dies || !d.kill:
		case d.where == anywhere:
			list = append(list, trial.Kill(rank, d.after.Round(time.Microsecond).String())...)
		default:
			list = append(list, trial.Kill(rank, fmt.Sprintf("%s=%d", names[d.where], d.phase))...)
		}
	}
	return list
}

// lot decides by chance whether this process, which does not know its rank yet, dies in Init or
// soon after.
func lot() bool {
	if rand.IntN(2) == 0 {
		return false
	}
	after := rand.N(20 * time.Millisecond)
	if rand.IntN(2) == 0 {
		after = rand.N(2 * time.Millisecond) // about the time of Init
	}
	time.AfterFunc(after, trial.Die)
	return true
}
