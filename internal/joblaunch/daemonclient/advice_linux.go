package daemonclient

import (
	"errors"
	"strings"
)

// advice is the remedy for a daemon that has not started, by the output about it. The first line
// that fits counts.
var advice = []struct{ said, remedy string }{
	{"goulfm daemon: bad order", "goulfm there is another build: install the same one on all nodes"},
	{"Could not resolve hostname", "is the name right, in --host or the host file?"},
	{"Host key verification failed", "log in there once by hand, and compare its key"},
	{"Permission denied (", "ssh must not need a question: put a key there, as with ssh-copy-id"},
	{"Connection refused", "does sshd run there? Set another port than 22 in ~/.ssh/config"},
	{"Connection timed out", "is the host up, and may this machine reach it?"},
	{"No route to host", "is the host up, and may this machine reach it?"},
	{"as for a process of another job", "another program answers there, not the launcher of this job: start the job once more"},
	{"does not reach the launcher", "a firewall, or another network? --iface ADDR names the address of this machine that hosts can reach"},
	{"Exec format error", "goulfm there is built for another kind of machine: --daemon-path PATH names the right one"},
	{"cannot execute", "goulfm there is built for another kind of machine: --daemon-path PATH names the right one"},
	{"o such file or directory", "install goulfm there at the same path, or name its path with --daemon-path"},
	{"not found", "install goulfm there at the same path, or name its path with --daemon-path"},
	{"ermission denied", "may that user execute goulfm there? --daemon-path PATH names another one"},
	{"flag provided but not defined", "goulfm there is of another version: install the same"},
	{"node configuration is not available", "are all hosts in this allocation? squeue --me shows which are"},
	{"Invalid node name", "is the name right, as sinfo -N lists it?"},
	{"Invalid job id", "the allocation has ended: squeue --me shows which there are"},
	{"Job/step already completing", "the allocation is ending: squeue --me shows which there are"},
	{"unge", "munge does not work on this machine: munge -n | unmunge shows the reason"},
	{"rotocol authentication error", "munge does not work on this machine: munge -n | unmunge shows the reason"},
	{"contact slurm controller", "is slurmctld up? scontrol ping shows the state"},
}

// linesMax is how many of the last lines of output count.
const linesMax = 3

// advise makes one line of the output about a daemon that has not started, with a remedy if there
// is one.
func advise(said string) error {
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !has(lines, line) {
			lines = append(lines, line)
		}
	}
	text := strings.TrimSuffix(strings.Join(lines[max(len(lines)-linesMax, 0):], "; "), ".")
	for _, a := range advice {
		if strings.Contains(text, a.said) {
			return errors.New(text + ": " + a.remedy)
		}
	}
	return errors.New(text)
}

// has reports whether line is among lines, except for the node that slurmstepd names first.
func has(lines []string, line string) bool {
	_, said, _ := strings.Cut(line, ": ")
	for _, l := range lines {
		if _, before, ok := strings.Cut(l, ": "); l == line || ok && before == said && strings.HasPrefix(line, "slurmstepd") {
			return true
		}
	}
	return false
}

// adviseOfProgram is an error about a program that a daemon could not start, with a remedy if there
// is one.
func adviseOfProgram(why string) error {
	switch {
	case strings.Contains(why, "working directory"):
		why += ": it has to be there as here, or --wdir names another one"
	case strings.Contains(why, "no such file"):
		why += ": the program has to be there at the same path as here"
	case strings.Contains(why, "exec format error"):
		why += ": the program there is built for another kind of machine"
	case strings.Contains(why, "permission denied"):
		why += ": may that user execute it there?"
	}
	return errors.New(why)
}
