//go:build !linux

package adopt

import (
	"context"
	"errors"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/rm"
)

func isServed(int) bool { return false }

func meet(context.Context, *rm.Claim, time.Duration) (boot.Info, error) {
	return boot.Info{}, errUnsupported
}

var errUnsupported = errors.New("several processes need Linux: here a program is a world of one: set GOULFM_ALONE=1")
