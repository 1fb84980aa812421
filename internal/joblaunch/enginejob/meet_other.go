//go:build !linux

package enginejob

import (
	"context"
	"errors"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/goulfm/goulfm/internal/net/pmi"
)

func meet(context.Context, *rm.Claim, *several, *pmi.Client, time.Duration) (boot.Info, error) {
	return boot.Info{}, errUnsupported
}

var errUnsupported = errors.New("several processes need Linux: here a program is a world of one: set GOULFM_ALONE=1")
