// Package sandbox makes a program that knows nothing of gridrpc a service: each call runs it in a
// sandbox, of which images are taken while it runs, and goes on from the latest one at another
// server if its own is lost.
//
//	server.Main(func(s *server.Server) error {
//		return sandbox.Register(s, "solve", sandbox.Program{Args: []string{"/opt/solver", "--fast"}, Every: time.Minute})
//	})
//
// "gridrpc up --program 'solve=/opt/solver --fast'" does the same without a program of one's own.
// The argument of a call is a text, which the program reads from its standard input; the result is
// the text that it writes to its standard output. What it writes to its standard error is in the
// server's log. Another exit code than 0 is an error of the call.
//
// # What the program sees
//
// The sandbox is gVisor's runsc, which has to be installed: "make runsc" builds it, and
// GRIDRPC_RUNSC or PATH says where it is. It is a kernel of its own in a process, so the program
// gets no system call of the machine's through. It sees itself and Program.Read, at the same paths
// as outside, and changes nothing there. Its working folder (Folder) and /tmp are in the memory of
// the sandbox. There is no network, and nothing of the machine's other processes.
//
// # Images
//
// An image has the memory of all processes in the sandbox, their files, and how far input is read
// and output is written. For a moment they stand still: some 100 ms, and what writing their memory
// takes. A small program has 100 kB. With input and output it is a checkpoint of the call like any
// other. It needs the same processor: another one (vendor, family, model, features) begins from the
// start, and says so. What the program reads outside has to be the same at all servers.
package sandbox
