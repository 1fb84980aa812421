package collectives

import "context"

// Options are the settings for collectives that a context carries, as With and Reproducible store
// them. The zero value means the settings of the process.
type Options struct{ settings *settings } // nil: those of the environment

// OptionsOf returns the settings that ctx carries, for non-blocking collectives, which have no
// context of their own.
//
//	ctx = collectives.Reproducible(ctx)
//	r := collectives.Iallreduce(w, sums, parts, collectives.Sum, collectives.OptionsOf(ctx))
//
// With several Options the last one counts. The end of ctx is nothing to them.
func OptionsOf(ctx context.Context) Options {
	if ctx == nil {
		return Options{}
	}
	return Options{settingsOf(ctx)}
}

// A twin is the context of a non-blocking call: each wait for the call has a context of its own,
// and the twin has no end.
type twin struct {
	context.Context
	settings *settings // nil: those of the environment
}

// Value returns the settings of the call.
func (t *twin) Value(key any) any {
	if _, ask := key.(settingsKey); ask && t.settings != nil {
		return t.settings
	}
	return t.Context.Value(key)
}

// unchosen is the twin of calls without options.
var unchosen = &twin{Context: context.Background()}

// twinOf returns the context of a call with options.
func twinOf(opts []Options) context.Context {
	if len(opts) == 0 || opts[len(opts)-1].settings == nil {
		return unchosen
	}
	return &twin{Context: context.Background(), settings: opts[len(opts)-1].settings}
}
