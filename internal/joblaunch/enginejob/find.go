package enginejob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/goulfm/goulfm/internal/net/pmi"
)

// Environment variables that a user may set.
const (
	graceVariable   = "GOULFM_GRACE"         // time of a pod from SIGTERM to its end; default grace
	timeoutVariable = "GOULFM_START_TIMEOUT" // time within which all ranks have to come; default startTimeout
	quietVariable   = "GOULFM_QUIET"         // 1: no line about the world
)

// grace is the time of a pod from SIGTERM to SIGKILL if its template does not set one.
const grace = 30 * time.Second

// startTimeout is the time within which all ranks of a world have to come.
const startTimeout = 60 * time.Second

// A Failure is the reason why a world did not start. One of its ranks prints the reason.
type Failure struct {
	Why       string
	Elsewhere bool // another rank prints it
	IsTold    bool // this process has printed it: the engine may end this process before Init returns
}

func (f *Failure) Error() string {
	if f.Elsewhere {
		return "the world did not start; another rank says why"
	}
	return "the world did not start: " + f.Why
}

// Find finds the place of this process. If a job engine has started the ranks, Find waits until
// all ranks of the world have come. launched is false for a world of one.
//
// Success uses up the identity of this process: Find removes its variables from the environment.
// After an error they are still there.
func Find(ctx context.Context) (info boot.Info, launched bool, err error) {
	claim, err := rm.Recognise(os.Environ(), pmi.Alive)
	if err != nil {
		return info, false, err
	}
	asked := false
	var session *pmi.Client
	if claim.Engine == rm.PMI && claim.Size != 1 {
		claim, session, err = askInTime(ctx, claim)
		asked = true
	}
	if err != nil {
		return info, false, err
	}
	switch {
	case claim.Engine == rm.Goulfm:
		info, launched, err = boot.FromEnv()
	case claim.Engine == rm.Alone || claim.Size == 1 && !asked: // a single rank has no peers to meet
		if os.Getenv(rm.AloneVariable) == "" {
			err = boot.CheckAlone()
		}
		return info, false, err
	case claim.Size == 1:
	default:
		info, err = join(ctx, &claim, session)
		launched = true
	}
	if err == nil {
		leave(&claim)
	}
	return info, launched, err
}

// leave uses up the identity of this process: neither it nor its children claim that again.
func leave(claim *rm.Claim) {
	for _, name := range rm.Spent(os.Environ()) {
		os.Unsetenv(name)
	}
	if mark := claim.Mark(); mark != "" {
		_ = os.Setenv(rm.JoinedVariable, mark)
	}
}

// join meets the other ranks of a claim. session is the session with a PMI server by which
// daemons of several nodes meet, or nil.
func join(ctx context.Context, claim *rm.Claim, session *pmi.Client) (info boot.Info, err error) {
	defer func() { endSession(session, err) }()
	s, err := check(claim, severalHere)
	if err != nil {
		return info, err
	}
	timeout, err := timeoutOf(os.Getenv(timeoutVariable))
	if err != nil {
		return info, err
	}
	if info, err = meet(ctx, claim, s, session, timeout); err != nil {
		return info, err
	}
	if claim.Rank == 0 && os.Getenv(quietVariable) != "1" {
		fmt.Fprintf(os.Stderr, "world: %s%s\n", claim, claim.Caveat())
	}
	return info, nil
}

// isOnOneNode reports whether all ranks of a claim are on this node.
func isOnOneNode(claim *rm.Claim) bool {
	return claim.Nodes <= 1 && (claim.Locals < 0 || claim.Locals == claim.Size)
}

// check refuses a claim that cannot be met here. severally returns the way in which several nodes
// would meet. All ranks have the same fault, and rank 0 reports it.
func check(claim *rm.Claim, severally func(*rm.Claim) (*several, error)) (s *several, err error) {
	if claim.Nodes == 1 && claim.Locals == rm.Unknown {
		claim.Locals = claim.Size
	}
	no := &Failure{Elsewhere: claim.Rank > 0}
	switch {
	case claim.Engine == rm.Kubernetes:
		no.Why = fmt.Sprintf("%s (%s): the ranks of a pod are started with goulfm run", claim, claim.Why)
	case !isOnOneNode(claim):
		if s, err = severally(claim); err == nil {
			return s, nil
		}
		no.Why = err.Error()
	case claim.Locals != claim.Size:
		no.Why = fmt.Sprintf("%s (%s): whether all are on this node is not known: use goulfm run", claim, claim.Why)
	case claim.Size > ranksMax:
		no.Why = fmt.Sprintf("%s (%s): at most %d on one node, with goulfm run as well", claim, claim.Why, ranksMax)
	default:
		return nil, nil
	}
	return nil, no
}

// askInTime is askServer within GOULFM_START_TIMEOUT.
func askInTime(ctx context.Context, claim rm.Claim) (rm.Claim, *pmi.Client, error) {
	within, err := timeoutOf(os.Getenv(timeoutVariable))
	if err != nil {
		return claim, nil, err
	}
	return askServer(ctx, claim, within)
}

// timeoutOf reads GOULFM_START_TIMEOUT.
func timeoutOf(text string) (time.Duration, error) {
	return durationOf(timeoutVariable, text, startTimeout, "how long all ranks may take to start, as 90s, up to a day")
}

// graceOf reads GOULFM_GRACE.
func graceOf(text string) (time.Duration, error) {
	return durationOf(graceVariable, text, grace, "the pod's terminationGracePeriodSeconds, as 30 or 30s, up to a day")
}

// durationOf reads the value of a variable: a duration, or seconds.
func durationOf(variable, text string, unset time.Duration, want string) (time.Duration, error) {
	if text == "" {
		return unset, nil
	}
	d, err := time.ParseDuration(text)
	if seconds, bad := strconv.Atoi(text); bad == nil {
		d, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || d <= 0 || d > 24*time.Hour {
		return 0, fmt.Errorf("environment variable %s: %q: want %s", variable, text, want)
	}
	return d, nil
}

// placeOf names the place at which the ranks of a claim on one node meet: an abstract socket.
// Each user, start and node has another place.
func placeOf(uid int, claim *rm.Claim) string {
	label := ""
	if claim.Node >= 0 {
		label = strconv.Itoa(claim.Node)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{"meet", strconv.Itoa(uid), claim.Key, label}, "\x00")))
	return "@goulfm-" + hex.EncodeToString(sum[:12])
}
