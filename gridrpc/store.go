package gridrpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/store/jetstream"
	"github.com/goulfm/goulfm/gridrpc/store/s3"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// OpenStore returns the store of checkpoints that a text names: the path of a folder that all
// servers see; or s3://BUCKET or s3://BUCKET/FOLDER, at the service that the environment names as
// package store/s3 says; or jetstream://HOST:PORT,..., which "gridrpc up --store jetstream" starts,
// with the certificate of this process in the folder of the platform. "" is none.
func OpenStore(name string) (checkpoint.Store, error) {
	return openStore(context.Background(), name, DefaultDir(), nil)
}

func openStore(ctx context.Context, name, dir string, id *link.Identity) (checkpoint.Store, error) {
	switch scheme, _, ok := strings.Cut(name, "://"); {
	case name == "":
		return nil, nil
	case ok && scheme+"://" == s3.Scheme:
		return s3.Open(ctx, name)
	case ok && scheme+"://" == jetstream.Scheme:
		return openReplicas(ctx, name, dir, id)
	case ok:
		return nil, fmt.Errorf("%w: store %s://: want the path of a folder, %sBUCKET, or %sHOST:PORT,...", ErrUnsupported, scheme, s3.Scheme, jetstream.Scheme)
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	return checkpoint.Dir(path), nil
}

// openReplicas opens the platform's own store. Without an identity it takes that of a process in
// the folder.
func openReplicas(ctx context.Context, name, dir string, id *link.Identity) (checkpoint.Store, error) {
	if id == nil {
		loaded, err := link.Load(dir, cmp.Or(os.Getenv(discovery.EnvName), clientName))
		if os.Getenv(EnvIdentity) != "" {
			loaded, err = join.Load(dir)
		}
		if err != nil {
			return nil, fmt.Errorf("store %s: %w", name, err)
		}
		id = loaded
	}
	list, err := discovery.Peers(dir, discovery.Replicas)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // others may have started the servers
		return nil, fmt.Errorf("store %s: %w", name, err)
	}
	s, err := jetstream.Open(ctx, name, id.TLS(link.Store))
	if err != nil {
		return nil, err
	}
	s.Hosts = map[string]checkpoint.Host{}
	for _, r := range list {
		s.Hosts[r.Name] = checkpoint.Host(r.Host)
	}
	return s, nil
}

// platformStore returns the store of the platform in folder dir, for a process of it.
func platformStore(ctx context.Context, dir string, id *link.Identity) (checkpoint.Store, error) {
	name, err := discovery.Store(dir)
	if err != nil {
		return nil, err
	}
	return openStore(ctx, name, dir, id)
}
