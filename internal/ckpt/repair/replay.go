package repair

// With Config.Verify a repair goes back one version more than it must, and the program makes the
// newest one again. What it makes has to be what was there: if not, it depends on something that
// is not protected, or something has changed unseen.

// Replays reports whether a program that continues from version restored makes version had again.
// That is so if had is newer and has the next number. An older version with the next number, of an
// epoch before, has been replayed already, or cannot be replayed.
func Replays(restored, had Label) bool {
	return restored.Less(had) && had.Number == restored.Number+1
}
