package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// python returns an interpreter with the packages of examples/python.
func python(t *testing.T) string {
	why := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		out, err := exec.Command(name, "-c", "import grpc, google.protobuf").CombinedOutput()
		if err == nil {
			return name
		}
		why += name + ": " + strings.TrimSpace(string(out)+err.Error()) + "\n"
	}
	t.Skip("no Python with grpcio and protobuf (Debian: python3-grpcio): " + why)
	return ""
}

// TestPython: a client in another language makes calls and gets errors for mistakes. When a server
// is killed, its call continues from the latest checkpoint at another one.
func TestPython(t *testing.T) {
	py := python(t)
	p := startTrial(t, "--tree", "1x3", "--no-restart")
	p.dial()
	call := func(service, in string) *exec.Cmd {
		return exec.Command(py, "-B", "../../examples/python/call.py", service, in)
	}
	out, err := call("square", "3").Output()
	require.NoError(t, err)
	var got where
	require.NoError(t, json.Unmarshal(out, &got))
	assert.Equal(t, 9.0, got.Value)

	out, err = call("text", "700000").Output()
	require.NoError(t, err)
	assert.Len(t, out, 700_003, "quotes, and a newline")

	for service, text := range map[string]string{"fail": "failure on request", "sqare": "square"} {
		out, err := call(service, "3").CombinedOutput()
		require.Error(t, err)
		assert.Contains(t, string(out), text)
	}
	said, err := call("square", `"three"`).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(said), "does not fit")

	counting := call("count", `{"To": 9, "Holds": [4]}`)
	var answer bytes.Buffer
	counting.Stdout = &answer
	told, err := counting.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, counting.Start())
	eventLog := bufio.NewReader(told)
	words := strings.Fields(lineWith(t, eventLog, "/1/manifest-4.json"))
	p.signal(strings.TrimSuffix(words[3], ":"), syscall.SIGKILL)
	rest, err := io.ReadAll(eventLog)
	require.NoError(t, err)
	require.NoError(t, counting.Wait(), "%s", rest)
	assert.Contains(t, string(rest), "server lost")
	var all counted
	require.NoError(t, json.Unmarshal(answer.Bytes(), &all))
	assert.Equal(t, 2, all.Attempt)
	assert.Equal(t, 4, all.From)
	assert.Equal(t, "1 2 3 4 5 6 7 8 9 ", all.Text)
}
