package bootauth

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// programs returns a folder with a munge and an unmunge, which are scripts.
func programs(t *testing.T, munge, unmunge string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range map[string]string{"munge": munge, "unmunge": unmunge} {
		if script != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700))
		}
	}
	return dir
}

// encodes returns a munge that user uid runs: its credential holds its maker, its receiver, and
// the payload.
func encodes(uid int) string {
	return fmt.Sprintf(`[ $# = 4 ] && [ "$1" = -u ] && [ "$3" = -s ] || exit 2
printf 'MUNGE:%%s:\n' "$(printf '%d\n%%s\n%%s' "$2" "$4" | base64 | tr -d '\n')"
`, uid)
}

// decodes returns an unmunge that user uid runs. end follows the payload.
func decodes(uid int, end string) string {
	return fmt.Sprintf(`text=$(cat)
text=${text#MUNGE:}
plain=$(printf %%s "${text%%:}" | base64 -d 2>/dev/null) || { echo 'unmunge: Error: Invalid credential' >&2; exit 8; }
[ "$(printf '%%s\n' "$plain" | sed -n 2p)" = %d ] || { echo 'unmunge: Error: Unauthorized credential for client UID=%d GID=1' >&2; exit 18; }
printf 'STATUS:          Success (0)\nENCODE_HOST:     n1 (10.0.0.1)\nUID:             ann (%%s)\nGID:             ann (7)\n\n%%s%s' \
  "$(printf '%%s\n' "$plain" | sed -n 1p)" "$(printf '%%s\n' "$plain" | sed -n '3,$p')"
`, uid, uid, end)
}

// says returns a program that writes two texts to its two streams and ends with a code.
func says(code int, out, errors string) string {
	return fmt.Sprintf("cat > /dev/null\ncat <<'EOF'\n%s\nEOF\ncat >&2 <<'EOF'\n%s\nEOF\nexit %d\n", out, errors, code)
}

const ann = 1000

func annsMunge(t *testing.T, key string) Proof {
	return Munge(key, ann, programs(t, encodes(ann), decodes(ann, "")))
}

func TestMunge(t *testing.T) {
	good := annsMunge(t, "job 7")
	for name, c := range map[string]struct {
		other Proof
		why   string // of the listener, which checks first; "": accepted
	}{
		"the same":          {annsMunge(t, "job 7"), ""},
		"an older MUNGE":    {Munge("job 7", ann, programs(t, encodes(ann), decodes(ann, `\n`))), ""},
		"another start":     {annsMunge(t, "job 8"), "is for another connection"},
		"for another user":  {Munge("job 7", 1001, programs(t, encodes(1001), decodes(1001, ""))), "unmunge: Unauthorized credential for client UID=1001 GID=1: start all ranks as one user"},
		"a user told wrong": {Munge("job 7", 1001, programs(t, encodes(1001), decodes(ann, ""))), "the other end is user 1000, this one user 1001: start all ranks as one user"},
		"another proof":     {Secret(file("a"), "job 7"), "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			dialErr, acceptErr := prove(t, good, c.other)
			if c.why == "" {
				require.NoError(t, dialErr)
				require.NoError(t, acceptErr)
				return
			}
			assert.ErrorContains(t, acceptErr, c.why)
			assert.ErrorContains(t, dialErr, "closed")
		})
	}
	_, acceptErr := prove(t, Secret(file("a"), "job 7"), good)
	assert.ErrorContains(t, acceptErr, "is no MUNGE credential")
}

// TestMungeOfOneConnection: a credential is worth nothing from the other end, and on another
// connection.
func TestMungeOfOneConnection(t *testing.T) {
	p := annsMunge(t, "job 7")
	const elsewhere = "is for another connection"
	assert.ErrorContains(t, reflected(t, p), elsewhere)
	assert.ErrorContains(t, against(t, p, said(t, p, keyD, keyS)), elsewhere, "passed on by who listens in its stead")
	assert.ErrorContains(t, against(t, p, said(t, p, keyL, keyD)), elsewhere, "said by a listener that dials, too")
	assert.ErrorContains(t, against(t, p, said(t, p, keyD, keyL)), "does not take the proof", "good; but the dialler has gone")
}

// TestPayloadStays: other builds compare with the same text.
func TestPayloadStays(t *testing.T) {
	assert.Equal(t, "goulfm1 job 7 "+
		"0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20 "+
		"65666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f8081828384 dialler",
		munge{key: "job 7"}.payload(keyD, keyL, dialler))
}

// TestOnlyCredentialsAreDecoded: the text of a stranger is not passed to a program.
func TestOnlyCredentialsAreDecoded(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "ran")
	p := Munge("k", ann, programs(t, encodes(ann), "touch "+mark+"\n"+decodes(ann, "")))
	for _, line := range []string{"", "x", "MUNGE:", "MUNGE::", "MUNGE:a b:", "MUNGE:YQ==", " MUNGE:YQ==:", "MUNGE:YQ==:\r", "MUNGE:YQ==:MUNGE:YQ==:"} {
		assert.ErrorContains(t, against(t, p, line), "is no MUNGE credential", line)
	}
	assert.ErrorContains(t, against(t, p, "MUNGE:"+strings.Repeat("A", credentialMax)+":"), "more than 8192 bytes in a line")
	assert.NoFileExists(t, mark)
	assert.ErrorContains(t, against(t, p, "MUNGE:A:"), "unmunge: Invalid credential: munged must have the same key on all nodes")
	assert.FileExists(t, mark)
}

// TestMungeThatFails: one line has the cause and the remedy.
func TestMungeThatFails(t *testing.T) {
	const unreachable = `Error: Failed to access "/run/munge/munge.socket.2": No such file or directory (Did you start munged?)`
	good := encodes(ann)
	for name, c := range map[string]struct{ munge, unmunge, why string }{
		"no munge":         {"", decodes(ann, ""), "munge is not in "},
		"no unmunge":       {good, "", "unmunge is not in "},
		"no munged":        {says(6, "", "munge: "+unreachable), "", `munge: Failed to access "/run/munge/munge.socket.2": No such file or directory (Did you start munged?): start munged on this node`},
		"no munged later":  {good, says(6, "", "unmunge: "+unreachable), "unmunge: Failed to access"},
		"silent":           {"exit 3", "", `munge: it wrote "": is it the program of MUNGE?`},
		"munge garbage":    {says(0, "hello\nMUNGE:YQ==:", ""), "", `munge: it wrote "hello\nMUNGE:YQ==:\n": is it`},
		"munge floods":     {"head -c 100000 /dev/zero | tr '\\0' A", "", "munge: it wrote"},
		"too long":         {"printf MUNGE:; head -c 9000 /dev/zero | tr '\\0' A; echo :", "", "munge: a credential of 9007 bytes, more than 8192"},
		"unmunge garbage":  {good, says(0, "hello", ""), "unmunge: no empty line in its output: is it the program of MUNGE?"},
		"unmunge is mute":  {good, "cat > /dev/null", `unmunge: it wrote ""`},
		"expired":          {good, says(15, "STATUS: Expired credential (15)\nUID: ann (1000)\n\nx", ""), "unmunge: Expired credential: the clocks of the two nodes differ: set them"},
		"replayed":         {good, says(17, "STATUS: Replayed credential (17)\nUID: ann (1000)\n\nx", ""), "unmunge: Replayed credential"},
		"another payload":  {good, says(0, "STATUS: Success (0)\nUID: ann (1000)\n\nx", ""), "is for another connection"},
		"another user":     {good, says(0, "STATUS: Success (0)\nUID: bob (1001)\n\nx", ""), "the other end is user 1001, this one user 1000"},
		"not a program":    {"\x00", "", "munge"},
		"shows the screen": {says(1, "", "munge: Error: \x1b[2J\nmore"), "", "munge: ?[2J"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := programs(t, c.munge, c.unmunge)
			dialErr, acceptErr := prove(t, Munge("k", ann, dir), Munge("k", ann, dir))
			err := acceptErr
			if strings.HasPrefix(c.why, "munge") {
				err = dialErr // the dialler begins
			}
			require.ErrorContains(t, err, c.why)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

// TestMungeThatHangs: the caller waits neither for a hanging program nor for its children.
func TestMungeThatHangs(t *testing.T) {
	const limit = 100 * time.Millisecond
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	open, err := os.OpenFile(pipe, os.O_RDWR, 0)
	require.NoError(t, err)
	defer open.Close() // the children of the scripts end
	hangs := "cat " + pipe + "; echo never"
	const why = ": no end within 100ms: is munged of this node alive?"
	patient := munge{key: "k", uid: ann, dir: programs(t, encodes(ann), hangs), limit: mungeFor}
	hasty := patient
	hasty.limit = limit
	_, acceptErr := prove(t, patient, hasty) // the side that decodes first
	assert.EqualError(t, acceptErr, "unmunge"+why)
	hasty.dir = programs(t, hangs, "")
	dialErr, _ := prove(t, hasty, patient) // the side that encodes first
	assert.EqualError(t, dialErr, "munge"+why)

	ctx, cancel := context.WithCancel(t.Context())
	m := munge{key: "k", uid: ann, dir: programs(t, hangs, ""), limit: time.Hour}
	ran := make(chan error)
	go func() {
		_, err := m.credential(ctx, "x")
		ran <- err
	}()
	cancel()
	assert.ErrorIs(t, <-ran, context.Canceled)
}

// TestMungeInPath: an empty folder is $PATH.
func TestMungeInPath(t *testing.T) {
	dir := programs(t, encodes(ann), decodes(ann, ""))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	dialErr, acceptErr := prove(t, Munge("k", ann, ""), Munge("k", ann, ""))
	assert.NoError(t, dialErr)
	assert.NoError(t, acceptErr)
	t.Setenv("PATH", t.TempDir())
	_, err := munge{limit: time.Second}.credential(t.Context(), "x")
	assert.EqualError(t, err, "munge is not in $PATH: install MUNGE on this node, or use a secret file")
}

// TestRealMunge needs MUNGE on this machine, and its daemon.
func TestRealMunge(t *testing.T) {
	own := munge{key: "job 7", uid: os.Getuid(), limit: mungeFor}
	if _, err := own.credential(t.Context(), "x"); err != nil {
		t.Skip(err)
	}
	dialErr, acceptErr := prove(t, own, own)
	assert.NoError(t, dialErr)
	assert.NoError(t, acceptErr)
	assert.ErrorContains(t, reflected(t, own), "is for another connection")
	credential, err := own.credential(t.Context(), "x")
	require.NoError(t, err)
	assert.NoError(t, own.verify(t.Context(), credential, "x"))
	assert.ErrorContains(t, own.verify(t.Context(), credential, "x"), "Replayed")
	other := own
	other.uid++
	credential, err = other.credential(t.Context(), "x")
	require.NoError(t, err)
	assert.ErrorContains(t, own.verify(t.Context(), credential, "x"), "start all ranks as one user")
}
