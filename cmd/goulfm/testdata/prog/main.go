// Prog is the program of the launcher's tests: its first argument says what its
// ranks do.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

func main() {
	comm.MainWith(comm.Config{Warm: warm}, func(ctx context.Context, w *comm.Comm) error { return modes[os.Args[1]](ctx, w) })
}

var modes = map[string]func(ctx context.Context, w *comm.Comm) error{
	"ring":             ring,
	"windows-hang":     windowsHang,
	"hang":             func(ctx context.Context, w *comm.Comm) error { return awaitNext(ctx, w) },
	"late":             late,
	"recover":          recoverOnce,
	"until-few":        untilFew,
	"until-input-ends": untilInputEnds,
	"outlive":          outlive,
	"revoke":           revokeAndDie,
	"spares":           spares,
	"stopped":          stopped,
	"stopped-for-ever": func(ctx context.Context, w *comm.Comm) error {
		if w.Rank() == 1 {
			return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
		return mustFail(ctx, w, 1)
	},
	"panic": func(ctx context.Context, w *comm.Comm) error {
		if w.Rank() == 1 {
			panic("boom")
		}
		return mustFail(ctx, w, 1)
	},
	"error": func(_ context.Context, w *comm.Comm) error {
		if w.Rank() == 1 {
			return errors.New("bad thing")
		}
		return nil
	},
	"all-error": func(context.Context, *comm.Comm) error { return errors.New("bad thing") },
	"exit0": func(ctx context.Context, w *comm.Comm) error {
		if w.Rank() == 1 {
			os.Exit(0)
		}
		return mustFail(ctx, w, 1)
	},
	"abort": func(ctx context.Context, w *comm.Comm) error {
		if w.Rank() == 2 {
			w.Abort(9)
		}
		return awaitNext(ctx, w)
	},
	"abort-some": func(ctx context.Context, w *comm.Comm) error {
		half, err := w.Split(ctx, w.Rank()%2, 0)
		if err != nil {
			return err
		}
		if w.Rank() == 3 {
			half.Abort(9)
		}
		if w.Rank() == 1 {
			return awaitNext(ctx, w)
		}
		return errors.Join(mustFail(ctx, w, 1), mustFail(ctx, w, 3))
	},
	"abort-256": func(_ context.Context, w *comm.Comm) error {
		w.Abort(256)
		return nil
	},
	"exit": func(_ context.Context, w *comm.Comm) error {
		if w.Rank() == 1 {
			os.Exit(3)
		}
		return nil
	},
	"exit-after": func(ctx context.Context, w *comm.Comm) error {
		if err := w.Finalize(ctx); err != nil {
			return err
		}
		os.Exit(2 * (w.Rank() % 2))
		return nil
	},
	"init-twice":     initTwice,
	"init-in-main":   func(ctx context.Context, w *comm.Comm) error { return initMore(ctx, w, 0) },
	"finalize-once":  func(ctx context.Context, w *comm.Comm) error { return initMore(ctx, w, 1) },
	"finalize-twice": func(ctx context.Context, w *comm.Comm) error { return initMore(ctx, w, 2) },
	"exec":           execute,
	"cold-spares": func(context.Context, *comm.Comm) error {
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	},
	"fatal": func(ctx context.Context, w *comm.Comm) error {
		w.SetErrorHandler(comm.ErrorsFatal)
		return comm.Send(ctx, w.To(99), []int{0})
	},
	"cancel": func(ctx context.Context, w *comm.Comm) error {
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println("cancelled")
		return nil
	},
	// linger goes on after it was asked to end, until its input ends.
	"linger": func(ctx context.Context, w *comm.Comm) error {
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println("asked")
		_, err := io.Copy(io.Discard, os.Stdin)
		fmt.Println("last words")
		return err
	},
	"pid": func(ctx context.Context, w *comm.Comm) error {
		fmt.Println(os.Getpid())
		return awaitNext(ctx, w)
	},
	"pid-cancel": func(ctx context.Context, w *comm.Comm) error {
		fmt.Println(os.Getpid())
		<-ctx.Done()
		fmt.Println("cancelled")
		return nil
	},
	"output": func(_ context.Context, w *comm.Comm) error {
		for i := range 200 {
			fmt.Printf("rank %d ", w.Rank())
			fmt.Printf("line %d\n", i)
		}
		fmt.Fprintln(os.Stderr, "to stderr")
		fmt.Print("no newline at the end")
		return nil
	},
	"stdin": func(_ context.Context, w *comm.Comm) error {
		n := 0
		for in := bufio.NewScanner(os.Stdin); in.Scan(); n++ {
		}
		fmt.Printf("rank %d read %d lines\n", w.Rank(), n)
		return nil
	},
	"read": func(ctx context.Context, _ *comm.Comm) error {
		fmt.Println("ready")
		read := make(chan error, 1)
		go func() {
			_, err := os.ReadFile(os.Args[2])
			read <- err
		}()
		select {
		case err := <-read:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	},
	"env": func(context.Context, *comm.Comm) error {
		fmt.Printf("GIVEN=%s boot=%q\n", os.Getenv("GIVEN"), os.Getenv("GOULFM_BOOT"))
		return nil
	},
	"members": members,
	"mortal":  mortal,
	"size":    func(_ context.Context, w *comm.Comm) error { fmt.Println("size", w.Size()); return nil },
}

// stopped has rank 1 stop itself by SIGSTOP; once rank 0 has heard that it is
// dead it lets it go on.
func stopped(ctx context.Context, w *comm.Comm) error {
	pid := []int{os.Getpid()}
	switch w.Rank() {
	case 1:
		if err := comm.Send(ctx, w.To(0), pid); err != nil {
			return err
		}
		if err := syscall.Kill(pid[0], syscall.SIGSTOP); err != nil {
			return err
		}
		return awaitNext(ctx, w)
	case 0:
		if _, err := comm.Recv(ctx, w.From(1), pid); err != nil {
			return err
		}
		if err := mustFail(ctx, w, 1); err != nil {
			return err
		}
		if err := syscall.Kill(pid[0], syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return nil
	}
	return mustFail(ctx, w, 1)
}

// ring passes a token round; rank 0 prints the sum of ranks.
func ring(ctx context.Context, w *comm.Comm) error {
	next, prev := w.To((w.Rank()+1)%w.Size()), w.From((w.Rank()+w.Size()-1)%w.Size())
	token := []int{0}
	if w.Rank() == 0 {
		if err := comm.Send(ctx, next, token); err != nil {
			return err
		}
	}
	if _, err := comm.Recv(ctx, prev, token); err != nil {
		return err
	}
	if w.Rank() == 0 {
		fmt.Println("sum", token[0])
		return nil
	}
	token[0] += w.Rank()
	return comm.Send(ctx, next, token)
}

// awaitNext waits for a message that never comes.
func awaitNext(ctx context.Context, w *comm.Comm) error {
	_, err := comm.Recv(ctx, w.From((w.Rank()+1)%w.Size()).Tag(7), []int{0})
	return err
}

// late has odd ranks miss a barrier.
func late(ctx context.Context, w *comm.Comm) error {
	if w.Rank()%2 == 1 {
		<-ctx.Done()
	}
	return collectives.Barrier(ctx, w)
}

func mustFail(ctx context.Context, w *comm.Comm, victim int) error {
	_, err := comm.Recv(ctx, w.From(victim), []int{0})
	if !errors.Is(err, ulfm.ErrProcFailed) {
		return fmt.Errorf("receive from the dead: %w", err)
	}
	fmt.Printf("rank %d: %v\n", w.Rank(), err)
	return nil
}

// recoverOnce reaches Mark("step", 1), where the test kills some, repairs, and
// prints who is left.
func recoverOnce(ctx context.Context, w *comm.Comm) error {
	w.Mark("step", 1)
	if err := awaitNext(ctx, w); !ulfm.Recoverable(err) {
		return err
	}
	if err := w.Revoke(); err != nil {
		return err
	}
	flag, err := w.Agree(ctx, 6)
	if !errors.Is(err, ulfm.ErrProcFailed) || flag != 6 {
		return fmt.Errorf("agree: %d, %w", flag, err)
	}
	s, err := w.Shrink(ctx)
	if err != nil {
		return err
	}
	if s.Rank() == 0 {
		fmt.Println("survivors", s.Group())
	}
	return ring(ctx, s)
}

// revokeAndDie has the last rank revoke the world and die at once; the others wait for each other,
// in a circle, and for nobody else.
func revokeAndDie(ctx context.Context, w *comm.Comm) error {
	last := w.Size() - 1
	if w.Rank() == last {
		if err := w.Revoke(); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	_, err := comm.Recv(ctx, w.From((w.Rank()+1)%last), []int{0})
	if !errors.Is(err, ulfm.ErrRevoked) {
		return fmt.Errorf("receive on a revoked communicator: %w", err)
	}
	fmt.Printf("rank %d: revoked\n", w.Rank())
	return nil
}

// outlive recovers, asks for a process, and has rank 0 of the survivors end the job.
func outlive(ctx context.Context, w *comm.Comm) error {
	if err := recoverOnce(ctx, w); err != nil {
		return err
	}
	s, err := w.Shrink(ctx)
	if err != nil {
		return err
	}
	if _, err = s.Spawn(ctx, comm.SpawnSpec{N: 1}); s.Rank() == 0 {
		fmt.Println(err)
		s.Abort(9)
	}
	<-ctx.Done() // it would wait for ever
	return nil
}

// isWarm is whether this process has waited as a spare.
var isWarm bool

func warm(context.Context) error {
	if os.Args[1] == "cold-spares" {
		return errors.New("no input")
	}
	isWarm = true
	return nil
}

// spares has rank 1 die once rank 0 has read a line, and be replaced.
func spares(ctx context.Context, w *comm.Comm) error {
	if c := w.Joined(); c != nil {
		return comm.Send(ctx, c.To(0), []bool{isWarm})
	}
	if w.Rank() == 0 {
		if !bufio.NewScanner(os.Stdin).Scan() {
			return errors.New("no line")
		}
		if err := comm.Send(ctx, w.To(1), []int{1}); err != nil {
			return err
		}
	} else {
		if _, err := comm.Recv(ctx, w.From(0), make([]int, 1)); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if err := mustFail(ctx, w, 1); err != nil {
		return err
	}
	s, err := w.Shrink(ctx)
	if err != nil {
		return err
	}
	c, err := s.Replace(ctx, comm.ReplaceSpec{Ranks: []int{1}})
	if err != nil {
		return err
	}
	got := make([]bool, 1)
	if _, err := comm.Recv(ctx, c.From(1), got); err != nil {
		return err
	}
	fmt.Println("replaced by a spare that is warm:", got[0])
	return nil
}

// initTwice asks for the world of a process a second time, and once it is finalized.
func initTwice(ctx context.Context, w *comm.Comm) error {
	again, err := comm.Init(ctx)
	if err != nil || again != w {
		return fmt.Errorf("another world: %w", err)
	}
	if err := errors.Join(again.Finalize(ctx), ring(ctx, w), w.Finalize(ctx)); err != nil {
		return err
	}
	if _, err := comm.Init(ctx); !errors.Is(err, comm.ErrFinalized) {
		return fmt.Errorf("after the end: %w", err)
	}
	os.Exit(0)
	return nil
}

// initMore calls Init twice, so three times with that of Main. It calls Finalize that often and, if
// it does, ends the process.
func initMore(ctx context.Context, w *comm.Comm, finalizes int) error {
	for range 2 {
		if _, err := comm.Init(ctx); err != nil {
			return err
		}
	}
	for range finalizes {
		if err := w.Finalize(ctx); err != nil {
			return err
		}
	}
	if finalizes > 0 {
		os.Exit(0)
	}
	return ring(ctx, w)
}

// given is what the launcher has given to this process, before Init takes it away.
var given = os.Getenv("GOULFM_BOOT")

// execute runs this program inside of a rank: as such a program is run, and as one that
// still has what the launcher gave to the rank.
func execute(ctx context.Context, _ *comm.Comm) error {
	for _, env := range []string{"", "GOULFM_BOOT=" + given} {
		cmd := exec.CommandContext(ctx, os.Args[0], "size")
		cmd.Env = os.Environ()
		if env != "" {
			cmd.Env = append(cmd.Env, env)
		}
		text, err := cmd.CombinedOutput()
		fmt.Printf("%s%v\n", text, err)
	}
	return nil
}
