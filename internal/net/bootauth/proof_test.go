package bootauth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var keyD, keyL, keyS = numbered(1), numbered(101), numbered(201) // of a dialler, a listener, a stranger

// prove makes the two ends of a connection prove themselves. Each end closes if it rejects the
// other.
func prove(t *testing.T, dial, accept Proof) (dialErr, acceptErr error) {
	t.Helper()
	d, a := net.Pipe()
	accepted := make(chan error, 1)
	go func() {
		defer a.Close()
		accepted <- accept.Check(t.Context(), a, keyL, keyD, true)
	}()
	dialErr = dial.Check(t.Context(), d, keyD, keyL, false)
	d.Close()
	return dialErr, <-accepted
}

// against checks p, as the listener, against a peer that sends this line first.
func against(t *testing.T, p Proof, line string) error {
	t.Helper()
	d, a := net.Pipe()
	go func() {
		_, _ = d.Write([]byte(line + "\n"))
		d.Close()
	}()
	defer a.Close()
	return p.Check(t.Context(), a, keyL, keyD, true)
}

// reflected checks p, as the dialler, against a peer that sends the same line back.
func reflected(t *testing.T, p Proof) error {
	t.Helper()
	d, a := net.Pipe()
	go func() {
		line, _ := bufio.NewReader(a).ReadString('\n')
		_, _ = a.Write([]byte(line))
		a.Close()
	}()
	defer d.Close()
	return p.Check(t.Context(), d, keyD, keyL, false)
}

// said returns the line that p, as the dialler, sends to a listener with the key peer.
func said(t *testing.T, p Proof, own, peer [32]byte) string {
	t.Helper()
	d, a := net.Pipe()
	defer a.Close()
	go func() {
		_ = p.Check(t.Context(), d, own, peer, false)
		d.Close()
	}()
	line, err := bufio.NewReader(a).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSuffix(line, "\n")
}

func TestPinned(t *testing.T) {
	keys := [][32]byte{keyD, keyL}
	p := Pinned(keys...)
	keys[0] = keyS // its own copy counts
	for _, accepting := range []bool{false, true} {
		assert.NoError(t, p.Check(t.Context(), nil, keyL, keyD, accepting))
		assert.ErrorContains(t, p.Check(t.Context(), nil, keyL, keyS, accepting), "the key c9cacbcc... is none of the 2 on the cards")
	}
	assert.Error(t, Pinned().Check(t.Context(), nil, keyL, keyD, true))
}

func file(text string) []byte { return []byte(text + "0123456789abcdef") }

func TestSecret(t *testing.T) {
	good := Secret(file("a"), "job 7")
	for name, c := range map[string]struct {
		other Proof
		ok    bool
	}{
		"the same":      {Secret(file("a"), "job 7"), true},
		"another file":  {Secret(file("b"), "job 7"), false},
		"another start": {Secret(file("a"), "job 8"), false},
	} {
		t.Run(name, func(t *testing.T) {
			dialErr, acceptErr := prove(t, good, c.other)
			if c.ok {
				require.NoError(t, dialErr)
				require.NoError(t, acceptErr)
				return
			}
			require.ErrorIs(t, acceptErr, errSecret)
			require.ErrorContains(t, dialErr, "no proof from the other end: closed")
		})
	}
}

// TestSecretOfOneConnection: a code is worth nothing from the other end, and on another
// connection.
func TestSecretOfOneConnection(t *testing.T) {
	p := Secret(file("a"), "job 7")
	assert.ErrorIs(t, reflected(t, p), errSecret)
	assert.ErrorIs(t, against(t, p, said(t, p, keyD, keyS)), errSecret, "passed on by who listens in its stead")
	assert.ErrorIs(t, against(t, p, said(t, p, keyL, keyD)), errSecret, "said by a listener that dials, too")
	assert.ErrorIs(t, against(t, p, ""), errSecret)
	assert.ErrorIs(t, against(t, p, strings.ToUpper(said(t, p, keyD, keyL))), errSecret)
	assert.ErrorContains(t, against(t, p, strings.Repeat("0", 65)), "too long for a proof")
	assert.ErrorContains(t, against(t, p, strings.Repeat("0", 9000)), "more than")
	assert.ErrorContains(t, against(t, p, said(t, p, keyD, keyL)), "does not take the proof", "good; but the dialler has gone")
}

// TestSecretStays: other builds send the same codes.
func TestSecretStays(t *testing.T) {
	assert.Equal(t, "9f5df08c6d63d7872185c22a100418831dbf00d29ffc15e9e43546f62eeb46a6", said(t, Secret(file("a"), "job 7"), keyD, keyL))
}

// TestStrangerWhoDialsHearsNothing: the dialler has to begin.
func TestStrangerWhoDialsHearsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := net.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		checked := make(chan error, 1)
		go func() { checked <- Secret(file("a"), "k").Check(ctx, a, keyL, keyD, true) }()
		require.NoError(t, d.SetReadDeadline(time.Now().Add(30*time.Second)))
		n, err := d.Read(make([]byte, 1))
		assert.Zero(t, n)
		assert.Error(t, err)
		assert.ErrorIs(t, <-checked, context.DeadlineExceeded)
	})
}

// TestProofEndsWithItsContext: a proof ends with its context in each wait.
func TestProofEndsWithItsContext(t *testing.T) {
	cause := errors.New("the start was given up")
	for _, accepting := range []bool{false, true} {
		t.Run(fmt.Sprint("accepting ", accepting), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, a := net.Pipe()
				defer a.Close()
				ctx, cancel := context.WithCancelCause(t.Context())
				checked := make(chan error, 1)
				go func() { checked <- Secret(file("a"), "k").Check(ctx, d, keyD, keyL, accepting) }()
				synctest.Wait()
				cancel(cause)
				assert.ErrorIs(t, <-checked, cause)
			})
		})
	}
}

// TestWhyTheListenerIsNotContent: the dialler receives the reason, on one line.
func TestWhyTheListenerIsNotContent(t *testing.T) {
	d, a := net.Pipe()
	defer d.Close()
	go func() {
		_, _ = bufio.NewReader(a).ReadString('\n')
		_, _ = a.Write(reply(wordFailed, []byte("munge is\x1b[2J not in $PATH")))
		a.Close()
	}()
	err := Secret(file("a"), "k").Check(t.Context(), d, keyD, keyL, false)
	assert.ErrorIs(t, err, errFailed)
	assert.EqualError(t, err, "the other end says: munge is?[2J not in $PATH")
}
