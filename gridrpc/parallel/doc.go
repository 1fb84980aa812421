// Package parallel makes a goulfm job a service: for each call a server starts "goulfm run", whose
// ranks compute the answer together.
//
//	type Request struct{ N int }
//
//	func main() {
//		if rank.Is() { // started by the launcher
//			recovery.Main(recovery.Config{Files: rank.Files()}, solve) // reads rank.Argument, one rank calls rank.Return
//			return
//		}
//		server.Main(func(s *server.Server) error {
//			return parallel.Register[Request, Reply](s, "heat", parallel.Job{Ranks: 4})
//		})
//	}
//
// examples/heat is a whole one.
//
// # When something dies
//
//   - A rank: the job mends itself, as package recovery says. The server's log has the lines of the
//     job's story, and the client gets them as progress, of which the latest counts. Neither sees a failure.
//   - A node, of a job that has several (Job.Hosts): the same. Its ranks start anew on the others, from the copies
//     that package recovery keeps there.
//   - The server: the launcher, its nodes and all ranks end with it. The call goes on at another
//     server from the latest version that the job has published to rank.Files, with as many ranks as that
//     server starts, on its nodes.
//   - The client, or it gives up: the launcher gets TERM, and has stopWithin to end its ranks.
//   - Too many ranks: the launcher says so, which is an error of the call. "--restart" in Job.Flags
//     has it start all anew before that, from the latest version.
//
// # How
//
// The launcher is a program of its own, in a process group of its own, so that signals to the
// server are none to the job. Argument and result are files of JSON in the folder of the call. The
// versions that the job publishes are in a folder beside, which is looked into ten times a second:
// files of a version that is new are linked to where the job does not sweep, registered, and become
// the call's next checkpoint. So nodes on several machines need a folder of the platform (gridrpc
// up --dir) that all of them see.
package parallel
