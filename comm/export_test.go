package comm

// WithEnvironment returns cfg with what the environment says.
func WithEnvironment(cfg Config) (Config, error) {
	err := cfg.fromEnv()
	return cfg, err
}

// TypeName is what errors call elements of T.
func TypeName[T any]() string { return dataOf(code[T](), 0).Type }
