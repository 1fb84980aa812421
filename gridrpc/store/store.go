package store

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// ErrNotLinked is the error for a store of a package that the program does not import.
var ErrNotLinked = errors.New("this program does not link the store")

// Process provides the values that a store may need of the process that opens it.
type Process struct {
	// TLS returns the configuration for connections to the processes of the platform's own store.
	TLS func() (*tls.Config, error)
	// Hosts returns the machine of each process of that store, by name. The map is empty if the
	// folder of the platform lists none.
	Hosts func() (map[string]checkpoint.Host, error)
}

// Opener opens the store with a name, which begins with the registered scheme and "://".
type Opener func(ctx context.Context, name string, p Process) (checkpoint.Store, error)

// packages are the import paths of this module's stores, by scheme.
var packages = map[string]string{
	"jetstream": "github.com/goulfm/goulfm/gridrpc/store/jetstream",
	"s3":        "github.com/goulfm/goulfm/gridrpc/store/s3",
}

var (
	mu      sync.RWMutex
	openers = map[string]Opener{}
)

// Register adds a kind of store. Packages of stores call it in their init functions. It panics if
// open is nil, if scheme is empty or contains ":", or if scheme is registered already.
func Register(scheme string, open Opener) {
	mu.Lock()
	defer mu.Unlock()
	switch {
	case open == nil:
		panic(fmt.Sprintf("store: Register(%q): the Opener is nil", scheme))
	case scheme == "" || strings.Contains(scheme, ":"):
		panic(fmt.Sprintf("store: Register(%q): want a scheme without a colon", scheme))
	case openers[scheme] != nil:
		panic(fmt.Sprintf("store: Register(%q): the scheme is registered already", scheme))
	}
	openers[scheme] = open
}

// Schemes returns the registered schemes in alphabetical order.
func Schemes() []string {
	mu.RLock()
	defer mu.RUnlock()
	return slices.Sorted(maps.Keys(openers))
}

// Open returns the store with a name, for this process: with the certificate of the process in the
// folder of its platform, if the store needs one. An empty name is no store: Open returns nil. The
// error is ErrNotLinked if the program does not import the store's package, and
// gridrpc.ErrUnsupported if no store has the scheme.
func Open(ctx context.Context, name string) (checkpoint.Store, error) {
	dir := discovery.Default()
	load := sync.OnceValues(func() (*link.Identity, error) {
		if os.Getenv(discovery.EnvOwn) != "" {
			return join.Load(dir)
		}
		return link.Load(dir, cmp.Or(os.Getenv(discovery.EnvName), discovery.ClientName))
	})
	return OpenFor(ctx, name, Process{
		TLS: func() (*tls.Config, error) {
			id, err := load()
			if err != nil {
				return nil, err
			}
			return id.TLS(link.Store), nil
		},
		Hosts: func() (map[string]checkpoint.Host, error) { return discovery.StoreHosts(dir) },
	})
}

// OpenFor is Open for a process that provides its own values.
func OpenFor(ctx context.Context, name string, p Process) (checkpoint.Store, error) {
	if name == "" {
		return nil, nil
	}
	scheme, _, named := strings.Cut(name, "://")
	if !named {
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		return checkpoint.Dir(path), nil
	}
	mu.RLock()
	open := openers[scheme]
	mu.RUnlock()
	if open != nil {
		return open(ctx, name, p)
	}
	if path := packages[scheme]; path != "" {
		return nil, fmt.Errorf("store %s: %w %s://: add import _ %q to the program", name, ErrNotLinked, scheme, path)
	}
	return nil, fmt.Errorf("store %s: %w: scheme %s://: want the path of a folder, or one of %s", name, discovery.ErrUnsupported, scheme, strings.Join(known(), ", "))
}

// known returns the schemes that are registered or belong to this module.
func known() (list []string) {
	all := maps.Clone(packages)
	for _, scheme := range Schemes() {
		all[scheme] = ""
	}
	for _, scheme := range slices.Sorted(maps.Keys(all)) {
		list = append(list, scheme+"://")
	}
	return list
}
