package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Peer is one of several processes that must know each other from the start.
type Peer struct {
	Name  string
	Addr  string // HOST:PORT for clients
	Route string // HOST:PORT for the other ones
	Host  string // machine that it is on
}

// The groups of peers.
const (
	Replicas = "replicas" // hold the platform's own store
	Council  = "council"  // the masters, where there are several
)

// SavePeers stores the addresses of a group of peers before they start, so that each finds the
// others.
func SavePeers(dir, group string, list []Peer) error {
	var text strings.Builder
	for _, r := range list {
		fmt.Fprintln(&text, r.Name, r.Addr, r.Route, r.Host)
	}
	return replace(filepath.Join(dir, group), text.String())
}

// Peers returns the list that SavePeers stored.
func Peers(dir, group string) ([]Peer, error) {
	text, err := os.ReadFile(filepath.Join(dir, group))
	if err != nil {
		return nil, err
	}
	return parsePeers(string(text))
}

// StoreHosts returns the machines of the platform's own store. The result is empty if the platform
// did not start its processes.
func StoreHosts(dir string) (map[string]checkpoint.Host, error) {
	list, err := Peers(dir, Replicas)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := map[string]checkpoint.Host{}
	for _, r := range list {
		all[r.Name] = checkpoint.Host(r.Host)
	}
	return all, nil
}

func parsePeers(text string) (list []Peer, err error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) != 4 {
			return nil, fmt.Errorf("peers: %.60q: want NAME ADDRESS ADDRESS HOST", line)
		}
		for _, addr := range words[1:3] {
			if _, _, err := net.SplitHostPort(addr); err != nil {
				return nil, fmt.Errorf("peers: %w", err)
			}
		}
		list = append(list, Peer{Name: words[0], Addr: words[1], Route: words[2], Host: words[3]})
	}
	return list, nil
}
