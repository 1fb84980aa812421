package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"golang.org/x/sys/unix"
)

// beRank makes this program a rank, in one of the roles.
const beRank = "rank"

// The roles of ranks. The living ranks' work is a load.
const (
	roleWait    = "wait"    // VICTIMS: report when each of them is known to be dead
	roleNothing = "nothing" // start and end
	loadIdle    = "idling"  // SECONDS
	loadCompute = "computing"
	loadP2P     = "p2p"
	loadColl    = "collectives"
	roleWork    = "work" // SECONDS: compute, and print a record of how long pieces of the same work took
)

// rank is the program of a rank.
func rank(args []string) {
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		role, arg := args[0], ""
		if len(args) > 1 {
			arg = args[1]
		}
		if role != roleWork {
			fmt.Println(lineIn, w.Rank(), os.Getppid(), os.Getpid())
		}
		switch role {
		case roleNothing:
			return nil
		case roleWait:
			victims, err := ranksOf(arg)
			if err != nil {
				return err
			}
			return wait(ctx, w, victims)
		}
		seconds, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			return err
		}
		if role == roleWork {
			return work(ctx, w, time.Duration(seconds*1e9))
		}
		return load(ctx, w, role, time.Now().Add(time.Duration(seconds*1e9)))
	})
}

func ranksOf(list string) (ranks []int, err error) {
	for s := range strings.SplitSeq(list, ",") {
		r, err := strconv.Atoi(s)
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, r)
	}
	return ranks, nil
}

// wait reports for each victim when the victim is known to be dead. Victims wait for their end.
func wait(ctx context.Context, w *comm.Comm, victims []int) error {
	if slices.Contains(victims, w.Rank()) {
		<-ctx.Done()
		return nil
	}
	for _, v := range victims {
		_, err := comm.Recv(ctx, w.From(v), make([]byte, 1))
		at := nowNs()
		if !errors.Is(err, comm.ErrProcFailed) {
			return fmt.Errorf("rank %d was to fail: %w", v, err)
		}
		fmt.Println(lineKnows, w.Rank(), v, at)
	}
	return nil
}

// load keeps a rank busy until a moment.
func load(ctx context.Context, w *comm.Comm, what string, until time.Time) error {
	switch what {
	case loadIdle:
		<-time.After(time.Until(until))
	case loadCompute:
		for x := 1.0; time.Now().Before(until); {
			x = piece(x)
		}
	case loadP2P:
		return exchange(ctx, w, until)
	case loadColl:
		return reduce(ctx, w, until)
	default:
		return fmt.Errorf("%s: no such load", what)
	}
	return nil
}

// loadWords is the length of messages: 64 KiB.
const loadWords = 8 << 10

// exchange lets pairs of ranks send to each other until one of the two has reached the moment. A
// rank without a partner waits.
func exchange(ctx context.Context, w *comm.Comm, until time.Time) error {
	peer := w.Rank() ^ 1
	if peer >= w.Size() {
		return load(ctx, w, loadIdle, until)
	}
	mine, theirs := make([]float64, loadWords), make([]float64, loadWords)
	for mine[0]+theirs[0] == 0 {
		if !time.Now().Before(until) {
			mine[0] = 1
		}
		if _, err := comm.SendRecv(ctx, w.To(peer), mine, w.From(peer), theirs); err != nil {
			return err
		}
	}
	return nil
}

// reduce lets all ranks reduce until one has reached the moment.
func reduce(ctx context.Context, w *comm.Comm, until time.Time) error {
	mine, sum := make([]float64, loadWords), make([]float64, loadWords)
	for sum[0] == 0 {
		if !time.Now().Before(until) {
			mine[0] = 1
		}
		if err := collectives.Allreduce(ctx, w, sum, mine, collectives.Sum); err != nil {
			return err
		}
	}
	return nil
}

// pieceLoops makes a piece of work of about a millisecond.
const pieceLoops = 300_000

// piece is a piece of work, always the same.
func piece(x float64) float64 {
	for range pieceLoops {
		x = x*0.999999 + 1e-6
	}
	return x
}

// The records of work, each with a value for every rank.
const (
	benchWork   = "work"   // us of a piece
	benchDaemon = "daemon" // us of CPU time that the daemon of the rank has taken, in a second
)

// work computes for a while beside all other ranks. It prints the time of a piece at each rank, and
// the CPU time of its daemon meanwhile.
func work(ctx context.Context, w *comm.Comm, long time.Duration) error {
	if err := collectives.Barrier(ctx, w); err != nil {
		return err
	}
	used, err := cpuTime(os.Getppid())
	if err != nil {
		return err
	}
	pieces, begin, x := 0, time.Now(), 1.0
	for time.Since(begin) < long {
		x = piece(x)
		pieces++
	}
	took := time.Since(begin)
	usedNow, err := cpuTime(os.Getppid())
	if err != nil {
		return err
	}
	if x < 0 {
		return errors.New("the work came out wrong") // and is not optimized away
	}
	out := record.AtRoot(w.Rank(), os.Stdout, record.JSON)
	for _, r := range []struct {
		bench string
		value float64
	}{{benchWork, float64(took.Microseconds()) / float64(pieces)}, {benchDaemon, float64((usedNow - used).Microseconds()) / took.Seconds()}} {
		all := make([]float64, w.Size())
		if err := collectives.Allgather(ctx, w, all, []float64{r.value}); err != nil {
			return err
		}
		if err := out.Write(record.Record{Bench: r.bench, N: w.Size(), Unit: record.Micros, Batches: all}); err != nil {
			return err
		}
	}
	return nil
}

// cpuTime is how long a process has run on cores.
func cpuTime(pid int) (time.Duration, error) {
	var t unix.Timespec
	// The clock of another process, as clock_getcpuclockid(3) makes its number.
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil {
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}
