//go:build !linux

package main

import (
	"context"
	"errors"
)

func beRankIfAsked([]string) bool { return false }

// takeAll says that the figures need several nodes, which there are on Linux.
func takeAll(context.Context, plan) error {
	return errors.New("jobs of several nodes need Linux")
}
