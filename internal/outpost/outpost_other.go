//go:build !linux

package outpost

import (
	"context"
	"errors"
	"io"
)

// Run fails: several processes need Linux.
func Run(context.Context, io.Reader, string) (int, error) {
	return 2, errors.New("goulfm daemon needs Linux")
}
