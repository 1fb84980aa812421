package watchserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// requestMax bounds the line of a client, and nameMax the name in it, in bytes.
const (
	requestMax = 1024
	nameMax    = 100
)

// The requests of a client.
const (
	askWatch    = "watch"    // the snapshot, and all events
	askRegister = "register" // watch the client itself
)

// A request is the only message of a client.
type request struct {
	Version int    `json:"v"`
	What    string `json:"what"`
	Name    string `json:"name"` // of askRegister
}

// errRequest is a line that is no request. The client receives the text.
var errRequest = errors.New("bad request")

// readRequest reads one line.
func readRequest(from io.Reader) (request, error) {
	line, err := bufio.NewReaderSize(io.LimitReader(from, requestMax), requestMax).ReadSlice('\n')
	if err != nil {
		return request{}, fmt.Errorf("%w: want a line of at most %d bytes", errRequest, requestMax)
	}
	return parseRequest(line)
}

func parseRequest(line []byte) (r request, err error) {
	if err := json.Unmarshal(line, &r); err != nil {
		return request{}, fmt.Errorf("%w: %w", errRequest, err)
	}
	switch {
	case r.Version != Version:
		return request{}, fmt.Errorf("%w: of version %d, and this is version %d: build the program with the goulfm that runs the job", errRequest, r.Version, Version)
	case r.What == askWatch:
		return r, nil
	case r.What != askRegister:
		return request{}, fmt.Errorf("%w: %.50q: want %s or %s", errRequest, r.What, askWatch, askRegister)
	}
	return r, checkName(r.Name)
}

// checkName returns the fault of a stranger's name, or nil. The name appears in lines for users.
func checkName(name string) error {
	if name == "" || len(name) > nameMax || !utf8.ValidString(name) {
		return fmt.Errorf("%w: a name of %d bytes: want 1 to %d of UTF-8", errRequest, len(name), nameMax)
	}
	for _, c := range name {
		if !unicode.IsPrint(c) {
			return fmt.Errorf("%w: name %q: want characters that can be printed", errRequest, name)
		}
	}
	return nil
}
