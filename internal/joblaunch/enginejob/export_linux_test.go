package enginejob

import (
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
)

// At has f called at each point at which the death of a rank makes a difference.
func At(f func(point string)) { at = f }

// PlaceOf is where the ranks of a claim meet.
func PlaceOf(uid int, c *rm.Claim) string { return placeOf(uid, c) }
