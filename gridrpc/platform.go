package gridrpc

import "github.com/goulfm/goulfm/gridrpc/internal/folder"

// Names in the environment of programs.
const (
	EnvDir     = folder.EnvDir     // the folder of the platform
	EnvMasters = folder.EnvMasters // addresses of masters, by commas
)

// DefaultDir returns the folder of this user's platform on this machine.
func DefaultDir() string { return folder.Default() }
