package platform

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
)

// hosts are the machines of a platform beside this machine.
type hosts struct {
	names []string // processes of a kind start on them in turn
	rsh   []string // command that starts a process there
	plays int      // number of imitated machines; without names only
}

// of returns the real or imitated machine of the i-th process of a kind.
func (h hosts) of(i int) string {
	switch {
	case len(h.names) > 0:
		return h.names[i%len(h.names)]
	case h.plays > 0:
		return fmt.Sprintf("h%d", i%h.plays+1)
	}
	return discovery.Host()
}

// remote returns the machine that starts the i-th process of a kind.
func (h hosts) remote(i int) remote {
	if len(h.names) == 0 {
		return remote{}
	}
	return remote{host: h.of(i), rsh: h.rsh}
}

// listen makes the processes of the platform that run on this machine, such as an only master,
// listen at an address that the other machines reach.
func (h hosts) listen() error {
	if len(h.names) == 0 || os.Getenv(discovery.EnvListen) != "" {
		return nil
	}
	here, err := discovery.ReachedFrom(h.names[0])
	if err != nil {
		return fmt.Errorf("--hosts: %w: is the name right?", err)
	}
	return os.Setenv(discovery.EnvListen, here)
}

// A remote is another machine on which processes are started.
type remote struct {
	host string // empty: this machine
	rsh  []string
}

// command returns the command that runs a program there, with these variables and this process's
// standard input. The command ends with the program, and with the machine.
func (r remote) command(env []string, program string, args []string) (string, []string) {
	if r.host == "" {
		return program, args
	}
	words := []string{"exec", "env"}
	for _, word := range slices.Concat(env, []string{program}, args) {
		words = append(words, quote(word))
	}
	return r.rsh[0], slices.Concat(r.rsh[1:], []string{r.host, strings.Join(words, " ")})
}

// quote quotes a word for a shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
