package edits

// mixedBuilds returns bugs of the checks between processes of different builds of goulfm.
func mixedBuilds() []Edit {
	return []Edit{
		{
			Name: "build-hello", Rule: "the launcher refuses a daemon of another build",
			Changes: []Change{{File: "internal/joblaunch/daemonclient/muster_linux.go", Old: "if a.hello.Build != buildid.Build {", New: "if a.hello.Build != buildid.Build && false {"}},
			Tests:   []Test{{Run: "TestDaemonOfAnotherBuild"}},
		},
		{
			Name: "build-hello-fields", Rule: "a daemon's Hello of another build is decoded only up to the fields that all builds share",
			Changes: []Change{{File: "internal/joblaunch/daemonproto/messages.go", Old: "err == nil && !stamp.IsOurs() {", New: "err == nil && !stamp.IsOurs() && false {"}},
			Tests:   []Test{{Run: "TestHelloOfAnotherBuild"}},
		},
		{
			Name: "build-bootstrap", Rule: "a daemon refuses a launcher of another build before it connects to it",
			Changes: []Change{{File: "internal/joblaunch/remotedaemon/nodedaemon_linux.go", Old: "if err == nil && !stamp.IsOurs() {", New: "if err == nil && !stamp.IsOurs() && false {"}},
			Tests:   []Test{{Run: "TestBootstrapOfAnotherBuild"}},
		},
		{
			Name: "build-environment", Rule: "a rank refuses an environment that a daemon of another build has set",
			Changes: []Change{{File: "internal/joblaunch/boot/boot.go", Old: "if err := stamp.CheckRank(); err != nil {", New: "if err := stamp.CheckRank(); err != nil && false {"}},
			Tests:   []Test{{Run: "TestEnvironments"}},
		},
		{
			Name: "build-memory", Rule: "a rank refuses node memory with the layout of another build",
			Changes: []Change{{File: "internal/shm/segment/node.go", Old: "if *m.word32(offBuild) != buildid.Build {", New: "if *m.word32(offBuild) != buildid.Build && false {"}},
			Tests:   []Test{{Run: "TestOpenNodeRefuses"}},
		},
		{
			Name: "build-claim", Rule: "the daemon of adopted ranks refuses a rank of another build",
			Changes: []Change{{File: "internal/joblaunch/enginejob/message.go", Old: "if stamp, err := buildid.Read(body); err == nil && !stamp.IsOurs() {\n\t\t_ =", New: "if stamp, err := buildid.Read(body); err == nil && !stamp.IsOurs() && false {\n\t\t_ ="}},
			Tests:   []Test{{Run: "TestMessagesOfAnotherBuild"}},
		},
		{
			Name: "build-answer", Rule: "an adopted rank refuses a daemon of another build",
			Changes: []Change{{File: "internal/joblaunch/enginejob/message.go", Old: "if stamp, err := buildid.Read(body); err == nil && !stamp.IsOurs() {\n\t\treturn a, ", New: "if stamp, err := buildid.Read(body); err == nil && !stamp.IsOurs() && false {\n\t\treturn a, "}},
			Tests:   []Test{{Run: "TestMessagesOfAnotherBuild"}},
		},
		{
			Name: "build-introduction", Rule: "the coordinator refuses a daemon of another build",
			Changes: []Change{{File: "internal/joblaunch/enginejob/introduction.go", Old: "case in.Build != buildid.Build:", New: "case in.Build == 0:"}},
			Tests:   []Test{{Run: "TestMessagesOfAnotherBuild"}},
		},
		{
			Name: "build-card", Rule: "a daemon refuses the card of a daemon of another build",
			Changes: []Change{{File: "internal/net/bootauth/card.go", Old: "case binary.BigEndian.Uint32(b) != buildid.Build:", New: "case binary.BigEndian.Uint32(b) == 0:"}},
			Tests:   []Test{{Run: "TestCardOfAnotherBuild"}},
		},
		{
			Name: "build-alien", Rule: "a rank of another build fails the start of all ranks, also if that rank is the first",
			Changes: []Change{{File: "internal/joblaunch/enginejob/muster.go", Old: "case m.mixed != \"\":", New: "case m.mixed != \"\" && false:"}},
			Tests:   []Test{{Run: "TestScripts"}},
		},
		{
			Name: "build-digest", Rule: "the build number in the source is the digest of the present wire formats and layouts",
			Changes: []Change{{File: "internal/base/buildid/build.go", Old: "const Build uint32 = 0x", New: "const Build uint32 = 1 ^ 0x"}},
			Tests:   []Test{{Run: "TestBuild"}},
		},
	}
}
