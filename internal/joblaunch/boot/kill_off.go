//go:build !failpoints

package boot

func armKillpoint(int) {}
