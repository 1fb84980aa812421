// Cells runs one cell of the table as processes of a real job, or shows which ends of a process are
// failures:
//
//	goulfm run -n 4 cells cell DIR "Recv from peer / peer dead, known"
//	goulfm run -n 4 cells window DIR "Put / target dead, known / memory"
//	goulfm run -n 4 cells end crash|exit|panic|error|abort|handler|fatal|finalize
//
// or hangs, by recoveries in different orders:
//
//	goulfm run -n 4 --timeout 1s cells overlap
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable/matrix"
)

func main() {
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		switch os.Args[1] {
		case "end":
			return end(ctx, w, os.Args[2])
		case "overlap":
			return overlap(ctx, w)
		case "window":
			return windowCell(ctx, w, os.Args[2], os.Args[3])
		}
		return cell(ctx, w, os.Args[2], os.Args[3])
	})
}

// cell prints a line for each complaint of this rank, and one when it is done.
func cell(ctx context.Context, w *comm.Comm, dir, name string) error {
	for _, x := range matrix.Cells() {
		if x.Name() != name {
			continue
		}
		report, ok := x.Run(ctx, w, place(dir))
		tell(w, report, ok)
		if x.Call.World {
			os.Exit(0) // it is finalized
		}
		return nil
	}
	return errors.New("no such cell")
}

// windowCell is cell of the table of windows.
func windowCell(ctx context.Context, w *comm.Comm, dir, name string) error {
	for _, x := range matrix.WindowCells() {
		if x.Name() == name {
			report, ok := x.Run(ctx, w, place(dir))
			tell(w, report, ok)
			return nil
		}
	}
	return errors.New("no such cell")
}

func tell(w *comm.Comm, report matrix.Report, ok bool) {
	for _, wrong := range report.Wrong {
		fmt.Printf("wrong: %s\n", wrong)
	}
	fmt.Printf("done: rank %d judged %v outcome %v\n", w.Rank(), ok, report.Outcome)
}

// A place gives signs by files of a folder.
type place string

func (p place) path(sign string) string {
	return filepath.Join(string(p), strings.ReplaceAll(sign, " ", "-"))
}

func (p place) Raise(sign string) {
	if err := os.WriteFile(p.path(sign), nil, 0o600); err != nil {
		panic(err)
	}
}

func (p place) Await(ctx context.Context, sign string) {
	for ctx.Err() == nil {
		if _, err := os.Stat(p.path(sign)); err == nil {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// Die gives the sign first, because a dead process cannot. It is likely, but not certain, that the
// death is unknown then.
func (p place) Die(sign string) {
	p.Raise(sign)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// end ends rank 3 in some way, and for some ways its neighbour as well. The others print the failed
// ranks that they know.
func end(ctx context.Context, w *comm.Comm, how string) error {
	pair, err := w.Split(ctx, w.Rank()/2, 0)
	if err != nil {
		return err
	}
	if _, err := w.Agree(ctx, 0); err != nil {
		return err
	}
	if w.Rank() == 3 {
		switch how {
		case "crash":
			_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
			select {}
		case "exit":
			os.Exit(0)
		case "panic":
			panic("on purpose")
		case "error":
			return errors.New("on purpose")
		case "abort":
			pair.Abort(7)
		case "handler":
			pair.SetErrorHandler(comm.ErrorsAbort)
			return comm.Send(ctx, pair.To(2), []int{0})
		case "fatal":
			pair.SetErrorHandler(comm.ErrorsFatal)
			return comm.Send(ctx, pair.To(2), []int{0})
		}
	}
	if how == "finalize" {
		if err := w.Finalize(ctx); err != nil {
			return err
		}
		fmt.Printf("rank %d: failed %v\n", w.Rank(), w.GetFailed())
		os.Exit(0)
	}
	if both(how) && w.Rank() == 2 || how == "fatal" {
		_, err := comm.Recv(ctx, w.From(0).Tag(9), []int{0}) // ends with the process
		return err
	}
	return survive(ctx, w, how)
}

// both reports whether rank 3's way to end includes its neighbour.
func both(how string) bool { return how == "abort" || how == "handler" }

func survive(ctx context.Context, w *comm.Comm, how string) error {
	victims := []int{3}
	if both(how) {
		victims = []int{2, 3}
	}
	for _, v := range victims {
		if _, err := comm.Recv(ctx, w.From(v), []int{0}); err == nil {
			return fmt.Errorf("rank %d: a message of nobody", w.Rank())
		}
	}
	s, err := w.Shrink(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("rank %d: failed %v, left %v\n", w.Rank(), w.Group().Difference(s.Group()), s.Group())
	return nil
}

// overlap has two communicators, of ranks 0 to 2 and of 1 to 3. Ranks 1 and 2 are in
// both, and shrink them in different orders.
func overlap(ctx context.Context, w *comm.Comm) error {
	among := func(member bool) (*comm.Comm, error) {
		if member {
			return w.Split(ctx, 0, 0)
		}
		return w.Split(ctx, comm.Undefined, 0)
	}
	low, err := among(w.Rank() < 3)
	if err != nil {
		return err
	}
	high, err := among(w.Rank() > 0)
	if err != nil {
		return err
	}
	fmt.Println("about to wait")
	first, second := low, high
	if w.Rank() >= 2 {
		first, second = high, low
	}
	for _, c := range []*comm.Comm{first, second} {
		if c == nil {
			continue
		}
		if _, err := c.Shrink(ctx); err != nil {
			return err
		}
	}
	return nil
}
