package bootauth

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unmungeOutput was written by unmunge 0.5.15.
const unmungeOutput = `STATUS:          Success (0)
ENCODE_HOST:     localhost (127.0.0.1)
ENCODE_TIME:     2026-11-25 14:44:08 +0000 (1795617848)
DECODE_TIME:     2026-11-25 14:44:08 +0000 (1795617848)
TTL:             300
CIPHER:          aes128 (4)
MAC:             sha256 (5)
ZIP:             none (0)
UID:             root (0)
GID:             root (0)
UID_RESTRICTION: root (0)
LENGTH:          21

goulfm1 K a b dialler`

func TestParseUnmunge(t *testing.T) {
	for name, c := range map[string]struct {
		out  string
		want unmunged
	}{
		"as it is":            {unmungeOutput, unmunged{success, 0, "goulfm1 K a b dialler"}},
		"with a new line":     {unmungeOutput + "\n", unmunged{success, 0, "goulfm1 K a b dialler"}},
		"expired":             {strings.Replace(unmungeOutput, "Success (0)", "Expired credential (15)", 1), unmunged{"Expired credential", 0, "goulfm1 K a b dialler"}},
		"nobody knows him":    {"STATUS: Success (0)\nUID: ??? (1000)\n\n", unmunged{success, 1000, ""}},
		"no spaces":           {"STATUS:Success (0)\nUID:a b (c) (4294967295)\n\nx", unmunged{success, 1<<32 - 1, "x"}},
		"a payload like them": {"UID: ann (1)\nSTATUS: Success (0)\n\nUID: root (0)\n\nSTATUS: x", unmunged{success, 1, "UID: root (0)\n\nSTATUS: x"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseUnmunge(c.out)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestParseUnmungeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ out, why string }{
		"nothing":        {"", "no empty line"},
		"no payload":     {"STATUS: Success (0)\nUID: ann (1)\n", "no empty line"},
		"no status":      {"UID: ann (1)\n\n", `STATUS is ""`},
		"no user":        {"STATUS: Success (0)\n\nUID: ann (1)\n\n", `UID is ""`},
		"two users":      {"STATUS: Success (0)\nUID: ann (1)\nUID: bob (2)\n\n", `two lines "UID"`},
		"no number":      {"STATUS: Success (0)\nUID: ann\n\n", `UID is "ann"`},
		"a negative one": {"STATUS: Success (0)\nUID: ann (-1)\n\n", `UID is "ann (-1)"`},
		"a large one":    {"STATUS: Success (0)\nUID: ann (4294967296)\n\n", "UID is"},
		"not quite":      {"STATUS: Success (15)\nUID: ann (1)\n\n", `status "Success" has the code 15`},
		"nor this":       {"STATUS: Failure (0)\nUID: ann (1)\n\n", `status "Failure" has the code 0`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseUnmunge(c.out)
			assert.ErrorContains(t, err, c.why)
		})
	}
}

// FuzzUnmunge: an accepted credential has the status success, and the payload is the end of the
// output.
func FuzzUnmunge(f *testing.F) {
	f.Add(unmungeOutput)
	f.Add("STATUS: Success (0)\nUID: ??? (1000)\n\nx\n")
	f.Add("STATUS: Expired credential (15)\nUID: ann (1)\n\n")
	f.Add("\n\n")
	f.Add("UID: (0)\nSTATUS: (0)\n\n")
	f.Fuzz(func(t *testing.T, out string) {
		u, err := parseUnmunge(out)
		if err != nil {
			require.Zero(t, u)
			return
		}
		require.True(t, strings.HasSuffix(strings.TrimSuffix(out, "\n"), u.payload))
		head := out[:strings.Index(out, "\n\n")]
		require.Equal(t, 1, strings.Count("\n"+head, "\nUID:"))
		require.GreaterOrEqual(t, u.uid, 0)
		if u.status == success {
			require.Contains(t, head, "Success (0)")
		}
	})
}
