package storetest

import (
	"path/filepath"
	"testing"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// TestDir: a folder is a store.
func TestDir(t *testing.T) {
	Run(t, func(t *testing.T) checkpoint.Store { return checkpoint.Dir(filepath.Join(t.TempDir(), "new")) })
}
