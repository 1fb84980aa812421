// Package parallel makes a service of a goulfm job: for each call a server starts "goulfm run", and
// the ranks compute the answer together.
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
// examples/heat is a complete program.
//
// # Deaths
//
//   - A rank: package recovery repairs the job. The log of the server has the event log of the job,
//     and the client gets its latest line as progress. Neither of them gets an error.
//   - A node of a job on several nodes (Job.Hosts): the same. New processes take its ranks on the
//     other nodes, from the copies that package recovery keeps there.
//   - The server: the launcher, its nodes and all ranks end with it. The call continues at another
//     server from the latest version that the job has published to rank.Files. The number of ranks
//     is that of the other server's job, on the nodes of that server.
//   - The client, also when it gives up: the launcher gets SIGTERM, and has stopWithin to end its
//     ranks.
//   - Too many ranks: the launcher fails, which is an error of the call. With "--restart" in
//     Job.Flags it first starts all ranks again from the latest version.
//
// # Implementation
//
// The launcher is a separate program in a process group of its own, so that signals to the server
// do not reach the job. Argument and result are JSON files in the folder of the call. The job
// publishes versions in another folder there, which the server checks ten times a second. It links
// the files of a new version to a folder that the job does not sweep, and registers them, so that
// they become the next checkpoint of the call. So nodes on several machines need a folder of the
// platform (gridrpc up --dir) that all of them see.
package parallel
