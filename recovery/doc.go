// Package recovery runs an SPMD program that survives the death of its processes. When processes
// die, they are replaced, and the body of the program is called again at all ranks with the data of
// the last commit.
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
// # Attempts
//
// A call of the body is an attempt. Protect registers its data and gives them the values of the
// last version that all ranks have committed; if there is no such version they keep their initial
// values. Each round of Steps ends in Commit, which copies the data and, at all ranks or at none,
// makes the copy the last version. When a process dies the attempt ends at all ranks: calls on its
// communicator return errors, ctx ends, bodies return. Then new processes replace the dead and get
// their ranks, and the body is called again everywhere.
//
// # Rules
//
//  1. Pass ctx to each call that waits. ctx ends with the attempt.
//  2. A body is called again if its error satisfies ulfm.Recoverable, is Rollback or ErrReplica, or
//     reports the end of the attempt, as errors of ctx and of calls of the World do then. Any other
//     error, such as ErrMember, and a panic, ends the program at all ranks with ErrPeer: a bug is
//     not replayed.
//  3. Goroutines of a body end with the body, or are started by World.Go.
//  4. The communicator of an attempt, and all objects made from that communicator, end with the
//     attempt.
//  5. Run returns nil when all ranks have finished. A rank that finished early may be called again,
//     so results are printed inside the body: at least once.
//  6. A program with its own loop advances its protected loop counter before Commit.
//  7. When the context of Run ends, for example by SIGTERM, the next commit is the last, and Run
//     returns ErrStopped.
//
// # Tolerated losses
//
// Copies of a rank's data are in its own memory and in the memory of Config.Copies other processes,
// on other nodes if there are any. Data survive as long as one of these processes lives for each
// rank; a death costs the work since the last commit. If more processes are lost before the dead
// are replaced and have their copies again, Protect returns ErrLost or restores a version from
// files.
//
// If the job has node memory (Config.NodeMemory), a rank's data are in the memory of its node, too.
// Node memory outlives processes: only the loss of nodes costs data, and the copies above are on
// other nodes. On a single node there are no copies by default, and a commit copies slices into
// node memory alone.
//
// Before the first commit there is nothing to lose: the initial values stand.
//
// Files (Config.Files) outlive the job: another job continues from them, with any number of ranks.
//
// # Implementation
//
// All decisions are those of package internal/ckpt/repair, which explains the protocol; this
// package carries them out over package comm. The ideas are those of Fenix (Gamell et al., SC'14),
// of LFLR (Teranishi and Heroux, 2014) and of ULFM (Bland et al., 2013).
//
// To read next: config.go, world.go, run.go, attempt.go, memory.go, home.go, kept.go, heritage.go,
// report.go, files.go, reload.go.
package recovery
