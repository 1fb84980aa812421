//go:build !linux

package main

import (
	"context"
	"errors"
)

func beRankIfAsked([]string) bool { return false }

// takeAll returns an error: the figures need several nodes, which only Linux supports.
func takeAll(context.Context, plan) error {
	return errors.New("jobs of several nodes need Linux")
}
