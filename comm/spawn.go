package comm

// A SpawnSpec says which processes Spawn starts.
type SpawnSpec struct {
	// N is how many, at least 1.
	N int
	// Program is the program that they run; empty: the one that this process runs.
	Program string
	// Args are its arguments, without its name.
	Args []string
	// Env is what is added to the environment, as NAME=VALUE.
	Env []string
}
