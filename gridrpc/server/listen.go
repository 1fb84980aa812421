package server

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
)

// listenForMasters returns the address at which a server of another machine listens: the source
// address of its packets to a master, unless the environment names an address.
func listenForMasters(dir string) (string, error) {
	if os.Getenv(discovery.EnvListen) != "" {
		return discovery.ListenAt(), nil
	}
	masters, err := discovery.Masters(dir)
	if err != nil {
		return "", err
	}
	var failures []error
	for _, addr := range masters {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			continue
		}
		here, err := discovery.ReachedFrom(host)
		if err == nil {
			return net.JoinHostPort(here, "0"), nil
		}
		failures = append(failures, err)
	}
	return "", fmt.Errorf("%w: is the network up? Else set %s to the address at which this server listens", errors.Join(failures...), discovery.EnvListen)
}
