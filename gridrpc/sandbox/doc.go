// Package sandbox makes a service of a program that does not use gridrpc. Each call runs the
// program in a sandbox, and images of the sandbox are taken meanwhile. If the server is lost, the
// call continues from the latest image at another server.
//
//	server.Main(func(s *server.Server) error {
//		return sandbox.Register(s, "solve", sandbox.Program{Args: []string{"/opt/solver", "--fast"}, Every: time.Minute})
//	})
//
// "gridrpc up --program 'solve=/opt/solver --fast'" does the same without a server program. The
// argument of a call is the standard input of the program, and the result is its standard output,
// as texts. Its standard error is in the log of the server. An exit code other than 0 is an error
// of the call.
//
// # What the program sees
//
// The sandbox is gVisor's runsc, which must be installed: "make runsc" builds it, and GRIDRPC_RUNSC
// or PATH leads to it. runsc is a kernel in a process, so no system call of the program reaches the
// kernel of the machine. The program sees itself and Program.Read, at the same paths as outside,
// and cannot change these files. Its working folder (Folder) and /tmp are in the memory of the
// sandbox. It has no network and does not see other processes of the machine.
//
// # Images
//
// An image contains the memory of all processes in the sandbox, their files, and the positions in
// input and output. An image stops the processes for about 100 ms and the time to write their
// memory. The image of a small program has 100 kB. Together with input and output it is a
// checkpoint of the call. An image requires the same processor: on another one (vendor, family,
// model, features) the program begins from the start, and the log reports so. Files outside that
// the program reads must be the same at all servers.
package sandbox
