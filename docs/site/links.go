package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checkLinks returns an error that names each link to a page or an address that is missing.
func (s *site) checkLinks() error {
	var faults []error
	reported := map[link]bool{}
	for _, l := range s.links {
		content, ok := s.files[l.to]
		resolves := ok && (l.fragment == "" || hasAddress(content, l.fragment))
		if resolves {
			s.resolved++
		} else if !reported[l] {
			reported[l] = true
			faults = append(faults, fmt.Errorf("%s: the link to %s has no target", l.from, strings.TrimSuffix(l.to+"#"+l.fragment, "#")))
		}
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

func hasAddress(content []byte, id string) bool {
	return bytes.Contains(content, fmt.Appendf(nil, " id=%q", id))
}
