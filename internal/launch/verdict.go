package launch

import (
	"fmt"
	"syscall"
)

// Survive says which failures of ranks others may survive, so that the job is a success.
type Survive string

const (
	// SurviveKilled is the default: a rank that something ended without its doing is
	// survived: by a signal, or because it was declared dead. One that says itself that it
	// has failed is not: by an exit code, an error or a panic of its body, an exit without
	// Finalize, Abort.
	SurviveKilled Survive = "killed"
	// SurviveAny has the job succeed if any rank finishes.
	SurviveAny Survive = "any"
	// SurviveNone ends the job with the first loss.
	SurviveNone Survive = "none"
)

// An end is how one rank ended.
type end struct {
	number  int
	status  syscall.WaitStatus
	joined  bool  // it was in Init
	left    bool  // it was through Finalize
	fenced  bool  // it was declared dead, and has heard so
	dropped bool  // a Spawn that failed had started it
	aborted int   // the code with which it called Abort for some ranks; 0: it did not
	foundNs int64 // when its end was found
}

// said returns the exit code with which a rank has said that it failed, and in which words;
// 0: it has not.
func (e end) said(strangers bool) (int, string) {
	code := e.status.ExitStatus()
	switch {
	case e.dropped || e.fenced:
	case e.aborted != 0:
		return e.aborted, fmt.Sprintf("Abort(%d)", e.aborted)
	case !e.status.Exited():
	case code != 0 && e.left:
		return code, fmt.Sprintf("exit code %d after Finalize", code)
	case code != 0:
		return code, fmt.Sprintf("exit code %d", code)
	case !e.left && e.joined:
		return ExitRank, "exit without Finalize"
	case !e.left && !strangers:
		return ExitRank, "exit without Init"
	}
	return 0, ""
}

// lost says whether a rank's end is a loss to the others: a failure, in the words of C8.
func (e end) lost(strangers bool) bool {
	code, _ := e.said(strangers)
	return !e.dropped && (code != 0 || !e.left && !(strangers && e.status == 0))
}

// A verdict is how a job ended.
type verdict struct {
	code int
	text string
}

// judge finds how a job ended that nobody stopped: from how its ranks ended, and what may be
// survived.
func judge(ends []end, survive Survive) verdict {
	var finished, failed int
	strangers := true
	for _, e := range ends {
		strangers = strangers && !e.joined
	}
	for _, e := range ends {
		if e.left {
			finished++
		} else if e.lost(strangers) {
			failed++
		}
	}
	if strangers {
		return verdict{codeOfStrangers(ends), fmt.Sprintf("%d of %d processes failed; none came through Init: is it a goulfm program?", failed, len(ends))}
	}
	text := fmt.Sprintf("%d of %d ranks finished", finished, len(ends))
	who, code, how := firstToSay(ends, survive == SurviveAny && finished > 0)
	switch {
	case code != 0:
		return verdict{code, fmt.Sprintf("%s, rank %d failed: %s", text, who, how)}
	case finished == 0:
		return verdict{ExitTooMany, text + ": too many lost"}
	}
	return verdict{0, text}
}

// firstToSay returns the first rank that has said that it failed. Where any failure is
// survived only those count that have finished.
func firstToSay(ends []end, finished bool) (number, code int, how string) {
	var first *end
	for i, e := range ends {
		if c, _ := e.said(false); c == 0 || finished && !e.left {
			continue
		}
		if first == nil || e.foundNs < first.foundNs {
			first = &ends[i]
		}
	}
	if first == nil {
		return 0, 0, ""
	}
	code, how = first.said(false)
	return first.number, code, how
}

// codeOfStrangers is the exit code of programs that know nothing of goulfm: that of the
// first of them that has one.
func codeOfStrangers(ends []end) int {
	for _, e := range ends {
		if code := exitCode(e.status); code != 0 && !e.dropped {
			return code
		}
	}
	return 0
}

func exitCode(s syscall.WaitStatus) int {
	if s.Signaled() {
		return ExitSignal + int(s.Signal())
	}
	return s.ExitStatus()
}

// describe says how a process has ended.
func describe(s syscall.WaitStatus) string {
	switch {
	case s.Signaled() && s.Signal() == syscall.SIGKILL:
		return "killed (SIGKILL)"
	case s.Signaled():
		return "killed by " + s.Signal().String()
	case s.ExitStatus() == 0:
		return "exit without Finalize"
	}
	return fmt.Sprintf("exit code %d", s.ExitStatus())
}
