package gridrpc

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/internal/folder"
	"github.com/goulfm/goulfm/gridrpc/store/s3"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// OpenStore returns the store of checkpoints that a text names: the path of a folder that all
// servers see, or s3://BUCKET or s3://BUCKET/FOLDER, at the service that the environment names as
// package store/s3 says. "" is none.
func OpenStore(name string) (checkpoint.Store, error) {
	switch scheme, _, ok := strings.Cut(name, "://"); {
	case name == "":
		return nil, nil
	case ok && scheme+"://" == s3.Scheme:
		return s3.Open(context.Background(), name)
	case ok:
		return nil, fmt.Errorf("%w: store %s://: want the path of a folder, or %sBUCKET", ErrUnsupported, scheme, s3.Scheme)
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	return checkpoint.Dir(path), nil
}

// platformStore returns the store of the platform in folder dir.
func platformStore(dir string) (checkpoint.Store, error) {
	name, err := folder.Store(dir)
	if err != nil {
		return nil, err
	}
	return OpenStore(name)
}
