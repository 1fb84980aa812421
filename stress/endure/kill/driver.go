package kill

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// drive runs the jobs and returns the exit code.
func drive(o options, out io.Writer) (int, error) {
	p, err := trial.Open("endure", o.goulfm, o.timeout)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	if o.runAll(p, out) {
		return 0, nil
	}
	return 1, nil
}

// wrongMax is the number of wrong jobs that ends the command.
const wrongMax = 20

// runAll runs the jobs and reports whether all were right. Their number may depend on the number of
// ranks that earlier jobs have lost.
func (o options) runAll(p *trial.Place, out io.Writer) bool {
	fmt.Fprintf(out, "kill: jobs of %d ranks and %v, seed %d\n", o.n, o.span, o.seed)
	var all tally
	start := time.Now()
	for i := o.first; o.jobs > 0 && all.jobs < o.jobs || o.jobs == 0 && all.kills < o.kills; i++ {
		r := o.run(p, o.draw(i))
		bad := all.add(&r)
		if o.verbose || bad != "" {
			fmt.Fprintf(out, "job %d: %v, %d killed, %s\n", i, r.Took.Round(time.Millisecond), killed(&r), strings.TrimSpace(r.Stdout))
		}
		if bad != "" {
			fmt.Fprintf(out, "\njob %d is wrong: %s; -seed %d -first %d -jobs 1 -n %d -span %v\n%s\n", i, bad, o.seed, i, o.n, o.span, r.Transcript())
		}
		if all.jobs-all.right >= wrongMax {
			fmt.Fprintln(out, "kill: enough")
			break
		}
	}
	all.total = time.Since(start)
	all.print(out)
	return all.right == all.jobs
}

func (o options) run(p *trial.Place, j job) trial.Result {
	args := []string{"kill", "-rank", "-seed", strconv.FormatUint(j.seed, 10), "-span", o.span.String()}
	return p.Run(o.n, append(strings.Fields(o.launch), j.kills...), args)
}

// A job is its seed and its deaths, in flags of the launcher.
type job struct {
	seed  uint64
	kills []string
}

// draw chooses the victims of a job and the instants of their deaths: at any time of its work, or a
// little later. Some jobs lose all victims at once, some nearly.
func (o options) draw(number int) job {
	rng := rand.New(rand.NewPCG(o.seed, uint64(number)))
	j := job{seed: rng.Uint64()}
	anywhere := func() time.Duration { return time.Duration(rng.Int64N(int64(o.span + o.span/10))) }
	first, kind := anywhere(), rng.IntN(4)
	victims := rng.Perm(o.n)[:1+rng.IntN(o.n-1)]
	if o.calm {
		return j
	}
	for _, v := range victims {
		at := first
		switch kind {
		case 0: // all at once
		case 1: // within one millisecond
			at += time.Duration(rng.Int64N(int64(time.Millisecond)))
		default:
			at = anywhere()
		}
		j.kills = append(j.kills, trial.Kill(v, at.Round(time.Microsecond).String())...)
	}
	return j
}
