//go:build !linux

package adopt

import (
	"context"
	"errors"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/pmi"
	"github.com/goulfm/goulfm/internal/rm"
)

func meet(context.Context, *rm.Claim, *several, *pmi.Client, time.Duration) (boot.Info, error) {
	return boot.Info{}, errUnsupported
}

var errUnsupported = errors.New("several processes need Linux: here a program is a world of one: set GOULFM_ALONE=1")
