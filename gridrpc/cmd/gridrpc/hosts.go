package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
)

// hosts are the machines of a platform beside this one.
type hosts struct {
	names []string // of the machines on which its processes are started: the i-th of each kind on the i-th, and so on in turn
	rsh   []string // the command that starts something there
	plays int      // that so many are played on this machine; of both at most one
}

// sshCommand asks for nothing, makes no terminal, and notices a machine that has gone.
const sshCommand = "ssh -T -x -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3"

// parseHosts reads machines by commas, or how many are to be played.
func parseHosts(text, rsh string) (h hosts, err error) {
	if text == "" {
		return h, nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 {
			return h, mistake{"up", fmt.Sprintf("--hosts %d: want machines, such as a,b,c, or the number of machines to imitate", n)}
		}
		h.plays = n
		return h, nil
	}
	h.names, h.rsh = strings.Split(text, ","), strings.Fields(rsh)
	switch {
	case slices.ContainsFunc(h.names, func(name string) bool { return name == "" || strings.HasPrefix(name, "-") }):
		return h, mistake{"up", fmt.Sprintf("--hosts %s: want machines, such as a,b,c", text)}
	case len(h.rsh) == 0:
		return h, mistake{"up", "--rsh: want a command"}
	}
	return h, nil
}

// of names the machine that the i-th process of a kind is on, or is taken to be on.
func (h hosts) of(i int) string {
	switch {
	case len(h.names) > 0:
		return h.names[i%len(h.names)]
	case h.plays > 0:
		return fmt.Sprintf("h%d", i%h.plays+1)
	}
	return discovery.Host()
}

// remote returns the machine on which the i-th process of a kind is to be started; none: this one.
func (h hosts) remote(i int) remote {
	if len(h.names) == 0 {
		return remote{}
	}
	return remote{host: h.of(i), rsh: h.rsh}
}

// listen has the processes of the platform that run here, as a master that is the only one, listen
// where the other machines reach them.
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
	host string // empty: this one
	rsh  []string
}

// command has a program run there, with these variables and this process's standard input. Where it
// is killed, or the machine is gone, the command ends.
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

// quote writes a word so that a shell reads it as it is.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
