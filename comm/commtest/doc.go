// Package commtest runs N ranks as goroutines of one test process, over real
// rings and the real rules, and lets a test kill some of them.
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
// A Config changes what a Run is made of; Nodes{0, 0, 1}.Run does the same on simulated
// nodes: two ranks on one, one on another. AwaitFailure waits until a rank knows of deaths,
// and Intercomm makes an intercommunicator without a launcher.
//
// A killed rank goes the way a killed process goes: what it had published stays
// readable, it answers nothing any more, and its peers hear of it only from the
// failure detector. What is not imitated: memory that is half written because
// the process stopped between two stores.
package commtest
