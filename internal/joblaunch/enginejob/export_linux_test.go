package enginejob

import (
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
)

// At sets the function that is called at each point at which the death of a rank makes a
// difference.
func At(f func(point string)) { at = f }

// PlaceOf returns the meeting place of the ranks of a claim.
func PlaceOf(uid int, c *rm.Claim) string { return placeOf(uid, c) }
