//go:build !linux

package park

func sleepers() map[string]Sleeper { return map[string]Sleeper{"channels": NewChannels()} }
