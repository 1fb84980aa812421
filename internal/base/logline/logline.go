// Package logline reports events of the library: to the logger of the program, or as lines on
// stderr.
//
// # Problem
//
// Without a logger a person reads the log and needs sentences. A logger needs the name of the
// event and its values. Write receives both forms and passes on one of them.
//
// # What is not promised
//
// Nothing limits the rate of the lines: callers report rare events, such as repairs, and no calls
// of the program.
package logline

import (
	"context"
	"fmt"
	"log/slog"
	"os"
)

// An Event is one event of the library. Name is the message of its record, in lower case; Values
// are the attributes.
type Event struct {
	Level  slog.Level
	Name   string
	Values []slog.Attr
}

// Write passes the event to log. If log is nil Write prints "goulfm: " and the formatted text as
// one line on stderr. Errors of stderr and of log are ignored: a broken log stops no repair.
func Write(log *slog.Logger, e Event, format string, args ...any) {
	if log == nil {
		_, _ = fmt.Fprintf(os.Stderr, "goulfm: "+format+"\n", args...)
		return
	}
	log.LogAttrs(context.Background(), e.Level, e.Name, e.Values...)
}

// Error returns err as the attribute "error".
func Error(err error) slog.Attr { return slog.Any("error", err) }
