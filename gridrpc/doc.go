// Package gridrpc calls functions on other machines, and the calls survive: a server that is
// killed is replaced by another one, which goes on from the latest checkpoint; an agent that
// is killed is left out of the tree that finds servers.
//
// A service is a function of a request, registered in a program that is started as a server:
//
//	func main() {
//		gridrpc.Main(func(s *gridrpc.Server) error {
//			return gridrpc.Register(s, "square", func(ctx context.Context, c *gridrpc.Call, in *float64) (*float64, error) {
//				out := *in * *in
//				return &out, nil
//			})
//		})
//	}
//
// "gridrpc up ./program" starts a master, agents and servers, "gridrpc call square 3" calls
// it. A program dials and calls so:
//
//	c, err := gridrpc.Dial(ctx, "")
//	square := gridrpc.Service[float64, float64](c, "square")
//	nine, err := square.Call(ctx, &three)
//
// # What is promised
//
//   - A call returns a result, an error of its body, or an error of this package, whatever
//     server dies; a server that is killed is known in milliseconds, one that is stopped or
//     cut off within what Detect says.
//   - At least once: a body may run more than once, on several servers; the first result
//     wins. With AtMostOnce it runs once or not at all, and the loss of its server is an
//     error.
//   - What a body has stored with CheckpointNow or Notify, the next attempt goes on from.
//     A checkpoint is there whole or not at all.
//   - A call with Keep goes on when its client is gone, and its outcome is held: Attach finds it.
//   - A call under which three servers are lost is not tried again: ErrPoison.
//
// # Not promised
//
// Secrecy from the user who runs the platform: whoever reads its folder can call, and let other
// machines in.
package gridrpc
