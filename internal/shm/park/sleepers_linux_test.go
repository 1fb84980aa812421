package park

func sleepers() map[string]Sleeper {
	return map[string]Sleeper{"futex": Futex{}, "channels": NewChannels()}
}
