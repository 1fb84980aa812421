package gridrpc

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goList returns the output of "go list" with these arguments.
func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, errs.String())
	return out
}

// TestNoStoreLinked: clients, servers and platforms link the client of no store. A program imports
// the store that it uses.
func TestNoStoreLinked(t *testing.T) {
	for _, pkg := range []string{".", "./server", "./platform", "./store", "./parallel", "./batch", "./sandbox"} {
		for line := range strings.Lines(string(goList(t, "-deps", pkg))) {
			assert.NotRegexp(t, "nats|minio", line, "package %s", pkg)
		}
	}
}

// core is the list of the internal packages of the core module that this module may import. It
// never grows: this module is an example of a program on top of the public packages.
var core = []string{
	"base/eventqueue", "base/fifo", "base/mono", "base/must", "base/pausepoint",
	"net/faultproxy",
	"testing/golden", "testing/longtest", // of tests
}

// TestInternalImports: exactly the internal packages of the list are imported.
func TestInternalImports(t *testing.T) {
	const prefix = "github.com/goulfm/goulfm/internal/"
	used := map[string]bool{}
	for list := json.NewDecoder(bytes.NewReader(goList(t, "-json=ImportPath,Imports,TestImports,XTestImports", "./..."))); ; {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		err := list.Decode(&p)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if name, ok := strings.CutPrefix(path, prefix); ok {
				used[name] = true
				assert.Contains(t, core, name, "package %s imports an internal package of the core: use a public one", p.ImportPath)
			}
		}
	}
	for _, name := range core {
		assert.True(t, used[name], "%s is in the list, and no package imports it", name)
	}
}
