//go:build !linux

package adopt

import (
	"context"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/rm"
)

func isServed(int) bool { return false }

func meet(context.Context, *rm.Claim, time.Duration) (boot.Info, error) {
	return boot.Info{}, errUnsupported
}
