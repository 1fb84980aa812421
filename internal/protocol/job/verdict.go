package job

import (
	"fmt"
	"slices"
)

// Exit codes of a job that its rules give. Others are those of ranks.
const (
	CodeFailed   = 1   // a rank failed without a code of its own
	CodeUnjoined = 3   // a process has called Init and could not join
	CodeTooMany  = 4   // no process survived
	CodeSignal   = 128 // plus the signal
)

// Survive selects the failures of ranks that others may survive, so that the job is a success.
type Survive string

const (
	// SurviveKilled is the default: a rank may be ended by an outside cause, which is a signal or a
	// declaration of its death. A rank that reports its own failure makes the job fail: by an exit
	// code, an error or a panic of its body, an exit without Finalize, Abort.
	SurviveKilled Survive = "killed"
	// SurviveAny makes the job a success if any rank finishes.
	SurviveAny Survive = "any"
	// SurviveNone ends the job with the first loss.
	SurviveNone Survive = "none"
)

// A Status is the end of a process: an exit code, or a signal.
type Status struct {
	Code   int
	Signal int    // 0: none
	Name   string // of the signal

	Unknown bool // not known: the process was not started by us
}

const sigkill = 9

// String describes the end of a process.
func (s Status) String() string {
	switch {
	case s.Unknown:
		return "ended, and nobody can tell how"
	case s.Signal == sigkill:
		return "killed (SIGKILL)"
	case s.Signal != 0:
		return "killed by " + s.Name
	case s.Code == 0:
		return "exit without Finalize"
	}
	return fmt.Sprintf("exit code %d", s.Code)
}

// ExitCode is the code that a shell would show.
func (s Status) ExitCode() int {
	if s.Unknown {
		return CodeFailed
	}
	if s.Signal != 0 {
		return CodeSignal + s.Signal
	}
	return s.Code
}

// Fate describes the end of a process.
func (p Process) Fate() string {
	if p.Fenced {
		return "fenced: it was declared dead and stopped itself"
	}
	if p.Status == (Status{}) && p.Inits > 0 {
		return p.withoutFinalize()
	}
	return p.Status.String()
}

// withoutFinalize is the fate of a process that has ended with code 0 and has not left, with the
// reason if that is known.
func (p Process) withoutFinalize() string {
	if p.Inits == 0 {
		return Status{}.String()
	}
	return fmt.Sprintf("%s: Init was called %s and Finalize %s: call Finalize %s more", Status{}, times(p.Inits), times(p.Finalizes), times(p.Inits-p.Finalizes))
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// said returns the exit code and the description of the failure that a process has reported; 0: the
// process has reported none.
func (p Process) said(strangers bool) (int, string) {
	code := p.Status.Code
	switch {
	case p.Dropped || p.Fenced:
	case p.Aborted != 0:
		return p.Aborted, fmt.Sprintf("Abort(%d)", p.Aborted)
	case p.Status.Signal != 0 || p.Status.Unknown:
	case code != 0 && p.Left:
		return code, fmt.Sprintf("exit code %d after Finalize", code)
	case code != 0:
		return code, fmt.Sprintf("exit code %d", code)
	case !p.Left && p.Joined:
		return CodeFailed, p.withoutFinalize()
	case !p.Left && !strangers:
		return CodeFailed, "exit without Init"
	}
	return 0, ""
}

// lost reports whether a process's end is a loss to the others: a failure, in the words of C8.
func (p Process) lost(strangers bool) bool {
	code, _ := p.said(strangers)
	return !p.Dropped && (code != 0 || !p.Left && !(strangers && p.Status.ExitCode() == 0))
}

// codeOfLoss is the exit code of a job that ends with the loss of one process.
func codeOfLoss(p Process, strangers bool) int {
	if code, _ := p.said(strangers); code != 0 {
		return code
	}
	return p.Status.ExitCode()
}

// A Verdict is the result of a job.
type Verdict struct {
	Code int
	Text string
}

// Verdict returns the result of the job, once all its processes have ended.
func (r *Rules) Verdict() Verdict {
	if r.ending {
		return Verdict{r.code, fmt.Sprintf("the job was stopped (code %d): %s", r.code, r.why)}
	}
	ends := r.Processes()
	joined := func(p Process) bool { return p.Joined }
	if r.unjoined != "" && r.past.count == 0 && !slices.ContainsFunc(ends, joined) {
		return Verdict{CodeUnjoined, "none of the processes came through Init: " + r.unjoined}
	}
	return judge(ends, r.past, r.cfg.Survive)
}

// A tally counts the ends of processes whose slots other processes have now.
type tally struct {
	count, finished int
	said, saidFine  *Process // the first that reported a failure; the first such that has finished
}

// add counts the end of a process. A slot is used again only in a job whose ranks came through
// Init.
func (t *tally) add(p Process) {
	t.count++
	if p.Left {
		t.finished++
	}
	if code, _ := p.said(false); code == 0 {
		return
	}
	t.said = earlier(t.said, &p)
	if p.Left {
		t.saidFine = earlier(t.saidFine, &p)
	}
}

// earlier returns the process whose end was found first.
func earlier(a, b *Process) *Process {
	if a == nil || b != nil && b.FoundNs < a.FoundNs {
		return b
	}
	return a
}

// judge returns the result of a job that was not stopped, from the ends of its processes and the
// failures that may be survived.
func judge(ends []Process, all tally, survive Survive) Verdict {
	strangers := all.count == 0
	for _, p := range ends {
		strangers = strangers && !p.Joined
	}
	if strangers {
		return judgeStrangers(ends)
	}
	for _, p := range ends {
		all.add(p)
	}
	text := fmt.Sprintf("%d of %d ranks finished", all.finished, all.count)
	said := all.said
	if survive == SurviveAny && all.finished > 0 {
		said = all.saidFine
	}
	switch {
	case said != nil:
		code, how := said.said(false)
		return Verdict{code, fmt.Sprintf("%s, rank %d failed: %s", text, said.Number(), how)}
	case all.finished == 0:
		return Verdict{CodeTooMany, text + ": too many lost"}
	}
	return Verdict{0, text}
}

// judgeStrangers is judge for programs that do not use goulfm.
func judgeStrangers(ends []Process) Verdict {
	failed := 0
	for _, p := range ends {
		if !p.Left && p.lost(true) {
			failed++
		}
	}
	return Verdict{codeOfStrangers(ends), fmt.Sprintf("%d of %d processes failed; none came through Init: is it a goulfm program of this build?", failed, len(ends))}
}

// codeOfStrangers is the exit code of programs that do not use goulfm: that of the first of them
// that has one.
func codeOfStrangers(ends []Process) int {
	for _, p := range ends {
		if code := p.Status.ExitCode(); code != 0 && !p.Dropped {
			return code
		}
	}
	return 0
}
