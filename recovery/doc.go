// Package recovery runs a program that outlives its processes: a body that is called again,
// with all ranks, from its last committed data, whenever some of them have died.
//
//	recovery.Main(recovery.Config{}, func(ctx context.Context, w *recovery.World) error {
//		g := newGrid(w.Block(ny))                                                // initialise,
//		if _, err := w.Protect(ctx, recovery.Slice("u", &g.u)); err != nil {     // protect,
//			return err
//		}
//		for range w.Steps(ctx, steps) {                                          // loop
//			if err := g.exchange(ctx, w.Comm()); err != nil {
//				return err
//			}
//			g.sweep()
//		}
//		return w.Err()
//	})
//
// # What happens
//
// A call of the body is an attempt. Protect registers its data and gives them the values of
// the last version that all ranks have committed; if there is none they stay as they are.
// Each round of Steps ends in Commit, which copies the data and, at all ranks or at none,
// makes the copy the last version. When a process dies the attempt ends at all ranks: calls
// on its communicator return errors, ctx ends, bodies return. Then the dead are replaced by
// new processes, which get their ranks, and the body is called again everywhere.
//
// # Rules
//
//  1. Give ctx to each call that waits. It ends with the attempt.
//  2. A body that returns an error for which ulfm.Recoverable holds, or what a call of its
//     World returned, or Rollback, is called again. Any other error, and a panic, ends the
//     program at all ranks, with ErrPeer: a bug is not replayed.
//  3. Goroutines of a body end with it, or were started by World.Go.
//  4. The communicator of an attempt, and all that was made from it, ends with the attempt.
//  5. Run returns nil when all ranks have finished. One that finished early may be called
//     again, so results are printed inside of the body: at least once.
//  6. In a loop of one's own what tells how far it is grows before Commit.
//  7. When the context of Run ends, by SIGTERM perhaps, the next commit is the last one, and
//     Run returns ErrStopped.
//
// # What is lost when
//
// Copies of a rank's data are in its own memory and in that of as many other processes as
// Config.Copies says, on other nodes where there are some. So data survive as long as of
// each rank one of those lives; a death costs what was computed since the last commit. Of
// more losses, before the dead are replaced and have their copies again, Protect says
// ErrLost, or goes back to what is in files.
//
// Where the job has node memory (Config.NodeMemory) a rank's data are in that of its node, too. It
// outlives processes: then only the loss of nodes costs data, and as above there are copies on
// other ones. On a single node there are no copies then, and a commit copies slices into that
// memory and nowhere else.
//
// Until the first commit there is nothing to lose: the initial values stand.
//
// Files (Config.Files) outlive the job: another one goes on from them, with any number of ranks.
//
// # How
//
// All decisions are those of package internal/ckpt/repair, where the protocol is explained; this
// package carries them out over package comm. The ideas are those of Fenix (Gamell et al.,
// SC'14), of LFLR (Teranishi and Heroux, 2014) and of ULFM (Bland et al., 2013).
//
// To read next: config.go, world.go, run.go, attempt.go, memory.go, home.go, kept.go,
// heritage.go, report.go, files.go, reload.go.
package recovery
