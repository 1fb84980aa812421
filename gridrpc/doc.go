// Package gridrpc calls functions on other machines, and the calls survive failures: when a server
// dies, its call continues at another server from the latest checkpoint. When an agent of the tree
// that finds servers dies, its neighbors repair the tree.
//
// This package is the client: Dial, Service, Attach. A service is a function of a request; package
// server registers it in a program that is started as a server:
//
//	func main() {
//		server.Main(func(s *server.Server) error {
//			return server.Register(s, "square", func(ctx context.Context, c *server.Call, in *float64) (*float64, error) {
//				out := *in * *in
//				return &out, nil
//			})
//		})
//	}
//
// "gridrpc up ./program" starts a master, agents and servers (package platform), and "gridrpc call
// square 3" calls the service. A program dials and calls it as follows:
//
//	c, err := gridrpc.Dial(ctx, "")
//	square := gridrpc.Service[float64, float64](c, "square")
//	nine, err := square.Call(ctx, &three)
//
// A client links no client of a store. A program of servers imports the package of its platform's
// store: see package store.
//
// # Guarantees
//
//   - A call returns a result, an error of its body, or an error of this package, even if
//     servers die. The death of a killed server is known in milliseconds. A server that is
//     stopped or cut off is declared dead within the time of the option Detect.
//   - At least once: a body may run more than once, on several servers; the first result
//     wins. With AtMostOnce the body runs once or not at all, and the loss of its server is an
//     error.
//   - The next attempt continues from the latest checkpoint of the body (server.Call.CheckpointNow,
//     Notify). A checkpoint is whole or does not exist.
//   - A call with Keep continues without its client, and a server holds its outcome: see Attach.
//   - A call under which three servers are lost is not tried again: ErrPoison.
//
// # Not promised
//
// Secrecy from the user that runs the platform: a process that can read its folder can call
// services, and let other machines join.
package gridrpc
