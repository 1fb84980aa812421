package comm

// NewIntercomm makes an intercommunicator of a communicator, each of whose ranks is in
// one of two groups.
func NewIntercomm(union *Comm, groupA, groupB []int) *Intercomm {
	return newIntercomm(union, groupA, groupB)
}

// WithEnvironment returns cfg with what the environment says.
func WithEnvironment(cfg Config) (Config, error) {
	err := cfg.fromEnv()
	return cfg, err
}

// TypeName is what errors call elements of T.
func TypeName[T any]() string { return dataOf(code[T](), 0).Type }
