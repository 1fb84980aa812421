package comm

// WithEnvironment returns cfg with what the environment says.
func WithEnvironment(cfg Config) (Config, error) {
	err := cfg.fromEnv()
	return cfg, err
}
