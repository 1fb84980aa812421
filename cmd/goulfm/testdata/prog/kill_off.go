//go:build !failpoints || !linux

package main

import "errors"

// armPart needs stores that count.
func armPart(int) (disarm func() uint64, err error) {
	return nil, errors.New("built without the tag failpoints")
}
