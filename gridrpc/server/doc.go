// Package server runs programs as servers of a platform of package gridrpc. Main starts the
// server, Register offers a function as a service, and Call is one attempt of a call for the
// function: progress, checkpoints, files.
//
//	func main() {
//		server.Main(func(s *server.Server) error { return server.Register(s, "solve", solve) })
//	}
//
// "gridrpc up ./program" starts a platform with such servers, and "gridrpc serve" a server on
// another machine. The program imports the package of the platform's store, unless the store is a
// folder:
//
//	import _ "github.com/goulfm/goulfm/gridrpc/store/s3"
//
// # Guarantees
//
//   - A server runs at most Places bodies at a time, and refuses calls above Places + Queue.
//   - An attempt runs at most once at a server. An older attempt of the same call is cancelled, and
//     an attempt that arrives late is refused.
//   - A body whose client has been silent for 10 s is cancelled, unless the call is kept.
//   - Checkpoints of a call are deleted when the call has ended.
//
// # Not promised
//
// That a body runs once: see the option AtMostOnce of package gridrpc.
//
// Reading order: server.go, register.go, serve.go, attempt.go, trunk_server.go, checkpoint.go.
package server
