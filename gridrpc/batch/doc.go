// Package batch makes a program a service whose calls are jobs of a batch system: the server
// stands in front of a cluster.
//
//	server.Main(func(s *server.Server) error {
//		p := batch.Program{Args: []string{"/opt/solver", "--fast"}, Dir: "/shared/jobs"}
//		return batch.Register(s, "solve", p)
//	})
//
// "gridrpc serve --batch slurm --program 'solve=/opt/solver --fast'" does the same without a
// program of one's own, and so does "gridrpc up". The argument of a call is a text, the standard
// input of the job; the result is the text of its standard output. An exit code other than 0, and
// a job that ends without one, are errors of the call.
//
// # Deaths
//
// A job outlives its server. The next attempt of the call, at a server with the same Dir, finds
// the job by its name (gridrpc-CALL) and waits for it; it takes the result of a job that has
// ended. It submits a new job only if there is none. A call that is cancelled cancels its job,
// unless a later attempt has taken it over. Nodes of the cluster are the business of the batch
// system.
//
// # Files
//
// Each call has a folder in Dir, which the nodes of the cluster and all servers of the service
// must see: script, input, output, error, and exit, which is written last. Folders are deleted a
// week after their last change, when a server starts.
package batch
