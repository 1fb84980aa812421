//go:build !linux

package window

import "errors"

// Map returns a Region for processes, which exist on Linux alone.
func Map(int, bool) (*Region, error) { return nil, errors.ErrUnsupported }

// Offer returns the address of the owner's Region.
func (r *Region) Offer() Offer { return Offer{Token: r.token, Bytes: uint64(len(r.body))} }

// Find maps the Region that another process has offered.
func Find(Offer) (*Region, error) { return nil, errors.ErrUnsupported }

func (r *Region) unmap() {}
