// Package commtest runs N ranks as goroutines of one test process, over real rings and the real
// protocol rules, and lets a test kill some of them.
//
//	func TestSurvivorsGoOn(t *testing.T) {
//		commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
//			if w.Rank() == 3 {
//				commtest.Kill(w)
//			}
//			...
//		})
//	}
//
// A Config sets the options of a Run. Nodes{0, 0, 1}.Run does the same on simulated nodes: two
// ranks on one node, one on another. AwaitFailure waits until a rank knows of deaths, and Intercomm
// makes an intercommunicator without a launcher.
//
// A killed rank behaves like a killed process. Data that the rank had published stays readable, the
// rank answers nothing any more, and its peers learn of its death only from the failure detector. A
// rank killed by Kill or RunKilled never leaves memory half written, as a process that stops
// between two stores does. To simulate that, call Freeze from a hook between the stores, such as a
// point of package failpoint (build tag failpoints).
package commtest
