//go:build !linux

package rankstore

import (
	"errors"
	"os"
)

// Create is for Linux.
func Create(int) (*Memory, error) { return nil, errors.ErrUnsupported }

// Open is for Linux.
func Open(*os.File) (*Memory, error) { return nil, errors.ErrUnsupported }
