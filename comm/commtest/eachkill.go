package commtest

import "testing"

// EachKill tests a program against a death at each point that the program passes. EachKill calls
// try with j to learn the result and the points. For each point, EachKill then calls try with a job
// in which the process dies there as well. All results have to be equal. try runs the job that it
// is given, once, and returns the result:
//
//	commtest.EachKill(t, commtest.Job{N: 4}, func(j commtest.Job) string {
//		var sum atomic.Int64
//		j.Run(t, func(ctx context.Context, w *comm.Comm) error { ... })
//		return fmt.Sprint(sum.Load())
//	})
//
// If j.Kills is set, EachKill tests a further death at each point that the program passes with
// those deaths. EachKill stops at the first failure. EachKill returns the points, so that a test
// can continue with third deaths. A point that is passed in parallel to a death may not occur in
// each run. In a run without the point no further process dies, and the result still has to be the
// same.
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
