package gridrpc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Names in the environment of the processes of a platform.
const (
	EnvDir     = "GRIDRPC_DIR"     // the folder of the platform
	EnvName    = "GRIDRPC_NAME"    // of this process
	EnvParent  = "GRIDRPC_PARENT"  // name and address of the agent above it: name@host:port
	EnvMasters = "GRIDRPC_MASTERS" // addresses of masters, by commas
)

// DefaultDir returns the folder of this user's platform on this machine.
func DefaultDir() string {
	if dir := os.Getenv(EnvDir); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "gridrpc")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("gridrpc-%d", os.Getuid()))
}

// MastersFile returns the path of the file that tells the addresses of the masters of
// DefaultDir's platform, one a line.
func MastersFile() string { return mastersFile(DefaultDir()) }

func mastersFile(dir string) string { return filepath.Join(dir, "masters") }

// readMasters returns the addresses of the masters of the platform in folder dir.
func readMasters(dir string) ([]string, error) {
	if list := os.Getenv(EnvMasters); list != "" {
		return splitList(list), nil
	}
	text, err := os.ReadFile(mastersFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: no platform in %s: start one with \"gridrpc up\", or set %s", ErrNoMaster, dir, EnvDir)
	}
	return splitList(strings.ReplaceAll(string(text), "\n", ",")), err
}

// splitList returns the parts of a list by commas.
func splitList(list string) []string {
	var parts []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
