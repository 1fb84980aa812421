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
// rank answers nothing any more, and its peers learn of its death only from the failure detector.
// Memory that is half written, because the process stopped between two stores, is not simulated.
package commtest
