package platform

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBuildIsReported: a build that takes longer than a second is one line that names the package,
// and a failed one is an error with the output of the compiler.
func TestBuildIsReported(t *testing.T) {
	tools := t.TempDir()
	compiler := func(script string) {
		require.NoError(t, os.WriteFile(filepath.Join(tools, "go"), []byte("#!/bin/sh\n"+script), 0o700))
	}
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	var log bytes.Buffer
	p := &platform{out: &log, begun: time.Now()}
	dir := t.TempDir()
	compiler("exit 0")
	require.NoError(t, p.build(t.Context(), dir, "x"))
	assert.Empty(t, log.String())
	compiler("sleep 2")
	require.NoError(t, p.build(t.Context(), dir, "x"))
	assert.Regexp(t, `^\+1\.\d+s builds `+dir+`: the first time`, log.String())
	assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte("\n")))
	compiler("echo broken >&2; exit 1")
	require.ErrorContains(t, p.build(t.Context(), dir, "x"), "broken")
}

// TestCheck: the error for a field names it, its value and the allowed values.
func TestCheck(t *testing.T) {
	good := Config{Command: "gridrpc", Program: []string{"program"}}.WithDefaults()
	require.NoError(t, good.Check())
	for text, change := range map[string]func(*Config){
		`Masters is "2": want 1, 3 or 5`:       func(c *Config) { c.Masters = 2 },
		`Tree is "0x1": want numbers above 0`:  func(c *Config) { c.Tree = "0x1" },
		`Ancestors is "65": want 1 to 64`:      func(c *Config) { c.Ancestors = 65 },
		`CertificateLife is "1s": want 4s`:     func(c *Config) { c.CertificateLife = time.Second },
		`Hosts is "a,-b": want machines`:       func(c *Config) { c.Hosts, c.RemoteShell = []string{"a", "-b"}, []string{"ssh"} },
		`RemoteShell is "": want a command`:    func(c *Config) { c.Hosts = []string{"a"} },
		`Program is "": want the command of`:   func(c *Config) { c.Program = nil },
		`RenewAfter is "1s": want 2s at least`: func(c *Config) { c.RenewAfter = time.Second },
	} {
		c := good
		change(&c)
		err := c.Check()
		require.Error(t, err)
		assert.ErrorContains(t, err, text)
	}
}
