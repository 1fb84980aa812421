package folder

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Replica is a server of the platform's own store.
type Replica struct {
	Name  string
	Addr  string // HOST:PORT for clients
	Route string // HOST:PORT for other replicas
}

func replicasFile(dir string) string { return filepath.Join(dir, "replicas") }

// SaveReplicas tells where the replicas are, before they are started: each finds the others.
func SaveReplicas(dir string, list []Replica) error {
	var text strings.Builder
	for _, r := range list {
		fmt.Fprintln(&text, r.Name, r.Addr, r.Route)
	}
	return replace(replicasFile(dir), text.String())
}

// Replicas returns what SaveReplicas has told.
func Replicas(dir string) ([]Replica, error) {
	text, err := os.ReadFile(replicasFile(dir))
	if err != nil {
		return nil, err
	}
	return parseReplicas(string(text))
}

func parseReplicas(text string) (list []Replica, err error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return nil, fmt.Errorf("replicas: %.60q: want NAME ADDRESS ADDRESS", line)
		}
		for _, addr := range words[1:] {
			if _, _, err := net.SplitHostPort(addr); err != nil {
				return nil, fmt.Errorf("replicas: %w", err)
			}
		}
		list = append(list, Replica{Name: words[0], Addr: words[1], Route: words[2]})
	}
	return list, nil
}
