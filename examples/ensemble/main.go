// Ensemble estimates the volume of the six-dimensional unit ball, by many independent tasks.
//
// A task draws points of the cube around the ball and counts those inside. Each rank does every
// n-th task and saves each result at once: World.Save involves no other rank. When ranks die,
// others take their places with the results that the dead had saved. So a death costs the task in
// progress at its rank, and no other rank repeats anything.
//
//	goulfm run -n 4 ./examples/ensemble
//	goulfm run -n 4 --kill 1@task=900 --kill 2@task=1500 ./examples/ensemble
//
// The last result is checked: the count has to be that of one process. Points for fault plans:
// task=K where the rank that has task K begins it, report=1, and those of package recovery.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/recovery"
)

// An ensemble is the problem to compute.
type ensemble struct {
	tasks, points int
	out           io.Writer
	began         func(task int) // for tests
}

func main() {
	e := &ensemble{out: os.Stdout, began: func(int) {}}
	flag.IntVar(&e.tasks, "tasks", 2000, "number of tasks")
	flag.IntVar(&e.points, "points", 10_000, "points of a task")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: goulfm run -n RANKS ensemble [flags]\n"+
			"Volume of the six-dimensional ball; results of dead ranks are not lost.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if e.tasks < 1 || e.points < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "ensemble: want -tasks and -points of at least 1 and no other argument (-h for help)")
		os.Exit(2)
	}
	recovery.Main(recovery.Config{}, e.run)
}

// run is called again after each repair. Then hits has the results that this rank, or the previous
// process in its place, has saved.
func (e *ensemble) run(ctx context.Context, w *recovery.World) error {
	hits := map[int]int64{} // by task
	if _, err := w.Protect(ctx, recovery.Value("hits", &hits, recovery.Own())); err != nil {
		return err
	}
	for task := w.Rank(); task < e.tasks; task += w.Size() {
		if _, done := hits[task]; done {
			continue
		}
		w.Comm().Mark("task", task)
		e.began(task)
		hits[task] = e.task(task)
		if err := w.Save(ctx, "hits"); err != nil {
			return err
		}
	}
	sum := int64(0)
	for _, n := range hits {
		sum += n
	}
	all, err := collectives.AllreduceOne(ctx, w.Comm(), sum, collectives.Sum)
	if err != nil || w.Rank() > 0 {
		return err
	}
	w.Comm().Mark("report", 1)
	return e.report(all)
}

// task counts the points inside the ball. Its random numbers depend only on the task, not on the
// rank or the time.
func (e *ensemble) task(task int) (inside int64) {
	rng := rand.New(rand.NewPCG(6, uint64(task)))
	for range e.points {
		r := 0.0
		for range 6 {
			x := 2*rng.Float64() - 1
			r += x * x
		}
		if r < 1 {
			inside++
		}
	}
	return inside
}

// report prints the result, at least once, and compares it with the count of one process.
func (e *ensemble) report(inside int64) error {
	n := float64(e.tasks) * float64(e.points)
	volume := 64 * float64(inside) / n
	fmt.Fprintf(e.out, "result: inside=%d volume=%.6f error=%.1e\n", inside, volume, math.Abs(volume-math.Pow(math.Pi, 3)/6))
	want := int64(0)
	for task := range e.tasks {
		want += e.task(task)
	}
	if inside != want {
		return fmt.Errorf("ensemble: %d points inside, and one process counts %d", inside, want)
	}
	return nil
}
