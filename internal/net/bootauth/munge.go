package bootauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Munge is the proof of daemons that run as one user on nodes with a common MUNGE key, such as
// those of a Slurm cluster (https://github.com/dun/munge). Each side calls munge to make a
// credential that only user uid can decode. The credential holds key, which is the name of the
// start, the hashes of its own key and of the other's, and its role. The other side decodes the
// credential with unmunge and compares the values. The two programs are in folder dir, or in
// $PATH if dir is empty; each may take five seconds. An error is one line with a remedy.
func Munge(key string, uid int, dir string) Proof {
	return munge{key: key, uid: uid, dir: dir, limit: mungeFor}
}

const (
	mungeFor      = 5 * time.Second // for each of the two programs
	credentialMax = 8 << 10         // bytes
)

type munge struct {
	key   string
	uid   int
	dir   string
	limit time.Duration
}

func (m munge) Check(ctx context.Context, conn net.Conn, own, peer [32]byte, accepting bool) error {
	role, other := roles(accepting)
	e := exchange{
		prove: func(ctx context.Context) (string, error) {
			return m.credential(ctx, m.payload(own, peer, role))
		},
		verify: func(ctx context.Context, credential string) error {
			return m.verify(ctx, credential, m.payload(peer, own, other))
		},
		most: credentialMax,
	}
	return e.run(ctx, conn, accepting)
}

// payload returns the content of the credential of the side with this role and key.
func (m munge) payload(own, peer [32]byte, role string) string {
	return fmt.Sprintf("goulfm1 %s %x %x %s", m.key, own, peer, role)
}

// wellFormed matches a credential. Nothing else is passed to unmunge.
var wellFormed = regexp.MustCompile(`^MUNGE:[A-Za-z0-9+/=]+:$`)

// credential makes a credential. The payload is no secret: it is visible in the list of
// processes.
func (m munge) credential(ctx context.Context, payload string) (string, error) {
	ran, err := m.run(ctx, "munge", "", "-u", strconv.Itoa(m.uid), "-s", payload)
	if err != nil {
		return "", err
	}
	line := strings.TrimSpace(ran.out)
	switch {
	case !wellFormed.MatchString(line):
		return "", ran.complaint("munge")
	case len(line) > credentialMax:
		return "", fmt.Errorf("munge: a credential of %d bytes, more than %d", len(line), credentialMax)
	}
	return line, nil
}

// verify decodes a credential of the other end, and compares its content.
func (m munge) verify(ctx context.Context, credential, payload string) error {
	if !wellFormed.MatchString(credential) {
		return errors.New("the line of the other end is no MUNGE credential: the other end is a stranger, or has another kind of proof: all nodes must have the same settings")
	}
	ran, err := m.run(ctx, "unmunge", credential)
	if err != nil {
		return err
	}
	if strings.TrimSpace(ran.out) == "" {
		return ran.complaint("unmunge")
	}
	found, err := parseUnmunge(ran.out)
	switch {
	case err != nil:
		return fmt.Errorf("unmunge: %w: is it the program of MUNGE?", err)
	case found.status != success:
		return remedied("unmunge: " + plain(found.status))
	case found.uid != m.uid:
		return fmt.Errorf("munge: the other end is user %d, this one user %d: start all ranks as one user, who has the same number on all nodes", found.uid, m.uid)
	case found.payload != payload:
		return errors.New("munge: the credential of the other end is for another connection: it belongs to another start, or somebody has passed it on")
	}
	return nil
}

// complaint returns the error of a program that ran and did not succeed.
func (r ran) complaint(program string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(r.errors), "\n")
	line = strings.TrimPrefix(line, program+": Error: ")
	if line == "" {
		return fmt.Errorf("%s: it wrote %q: is it the program of MUNGE?", program, r.out[:min(len(r.out), 40)])
	}
	return remedied(program + ": " + plain(line))
}

// remedies are the remedies by the messages of munge and unmunge (their libmunge/strerror.c).
var remedies = []struct{ says, do string }{
	{"failed to access", "start munged on this node"},
	{"failed to connect", "start munged on this node"},
	{"socket is insecure", "start munged on this node as it should be"},
	{"expired", "the clocks of the two nodes differ: set them"},
	{"rewound", "the clocks of the two nodes differ: set them"},
	{"invalid credential", "munged must have the same key on all nodes, and run with it since"},
	{"unauthorized", "start all ranks as one user, who has the same number on all nodes"},
}

// remedied appends the remedy to the message of a program.
func remedied(said string) error {
	lower := strings.ToLower(said)
	for _, r := range remedies {
		if strings.Contains(lower, r.says) {
			return errors.New(said + ": " + r.do)
		}
	}
	return errors.New(said)
}
