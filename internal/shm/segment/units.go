package segment

// A message is divided into as few units as may be, because each is a system call of one to four
// microseconds, and into as many for the receiver as for the sender.
const (
	UnitBytesMax = RemoteMax
	unitAlign    = 4 << 10
)

// Units returns how a message of n bytes is divided for a Transfer. Of two units the receiver's is
// a little larger, because the receiver begins earlier.
func Units(n int) (unit, units int) {
	if pairs := (n + 2*UnitBytesMax - 1) / (2 * UnitBytesMax); pairs > 1 {
		unit = (n + 2*pairs - 1) / (2 * pairs)
	} else {
		unit = min(n*9/16, UnitBytesMax)
	}
	unit = max((unit+unitAlign-1)&^(unitAlign-1), unitAlign)
	return unit, (n + unit - 1) / unit
}
