package repair

// With Config.Verify a repair goes back one version more than it must, and the program makes the
// newest one again. What it makes has to be what was there: if not, it depends on something that
// is not protected, or something has changed unseen.

// Replays says whether a program that goes on from version restored makes again what version had is
// of: that is the one after it, in number. A version that was made earlier on, of an epoch before,
// has been replayed already, or nobody could.
func Replays(restored, had Label) bool {
	return restored.Less(had) && had.Number == restored.Number+1
}
