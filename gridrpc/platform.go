package gridrpc

import "github.com/goulfm/goulfm/gridrpc/internal/discovery"

// Names in the environment of programs.
const (
	EnvDir     = discovery.EnvDir     // the folder of the platform
	EnvMasters = discovery.EnvMasters // addresses of masters, by commas
)

// DefaultDir returns the folder of this user's platform on this machine.
func DefaultDir() string { return discovery.Default() }
