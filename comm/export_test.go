package comm

// WithEnvironment returns cfg with the fields that environment variables define.
func WithEnvironment(cfg Config) (Config, error) {
	err := cfg.fromEnv()
	return cfg, err
}

// TypeName is the name of the elements of T in errors.
func TypeName[T any]() string { return dataOf(code[T](), 0).Type }
