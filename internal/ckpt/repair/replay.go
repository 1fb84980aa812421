package repair

// With Config.Verify a repair restores one version earlier than necessary, and the program makes
// the newest version again. The result must equal the version that was there. If it does not, it
// depends on unprotected data, or data have changed unseen.

// Replays reports whether a program that continues from version restored makes version had again.
// This is so if had is newer and has the next number. An older version with the next number, of an
// earlier epoch, has been replayed already, or cannot be replayed.
func Replays(restored, had Label) bool {
	return restored.Less(had) && had.Number == restored.Number+1
}
