package commtest

import "testing"

// EachKill kills one process at each point that a program passes: it calls try with j to learn the
// result and the points, and then once for each of them with a job in which the process dies there,
// too. All results have to be equal. try runs the job that it is given, once, and returns what came
// of it:
//
//	commtest.EachKill(t, commtest.Job{N: 4}, func(j commtest.Job) string {
//		var sum atomic.Int64
//		j.Run(t, func(ctx context.Context, w *comm.Comm) error { ... })
//		return fmt.Sprint(sum.Load())
//	})
//
// With j.Kills it is about a second death, at each point that comes with the first ones. EachKill
// returns the points, so that a test can go on to third ones. A point that is passed in parallel to
// a death may not come in each run: then nobody dies there, and the result has to be the same all
// the more.
func EachKill(t testing.TB, j Job, try func(j Job) string) []Killed {
	t.Helper()
	var reached []Killed
	first := j
	first.reached = &reached
	want := try(first)
	for _, k := range reached {
		next := j
		next.Kills = append(append([]Killed(nil), j.Kills...), k)
		if got := try(next); got != want {
			t.Errorf("killed at %+v: the result is %s, and %s without the last one", next.Kills, got, want)
		}
		if t.Failed() {
			t.Logf("the first failure is of the job with %+v", next.Kills)
			break
		}
	}
	return reached
}
