package bootauth

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// success is the status of a good credential.
const success = "Success"

// unmunged is the report of unmunge about a credential.
type unmunged struct {
	status  string // success, or the fault; with a fault the other fields may still be set
	uid     int    // of the user that made the credential
	payload string
}

// parseUnmunge reads the output of unmunge: lines of a key, a colon and a value, such as
//
//	STATUS:          Success (0)
//	UID:             ann (1000)
//
// of which only these two matter, then an empty line, then the payload. Older versions of munge
// append the end of a line to a payload that has none.
func parseUnmunge(out string) (unmunged, error) {
	head, payload, ok := strings.Cut(out, "\n\n")
	if !ok {
		return unmunged{}, errors.New("no empty line in its output")
	}
	values := map[string]string{}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, ":")
		if _, twice := values[key]; twice {
			return unmunged{}, fmt.Errorf("two lines %q in its output", plain(key))
		}
		values[key] = strings.TrimSpace(value)
	}
	status, code, err := named(values, "STATUS")
	if err != nil {
		return unmunged{}, err
	}
	if (status == success) != (code == 0) {
		return unmunged{}, fmt.Errorf("status %q has the code %d", plain(status), code)
	}
	_, uid, err := named(values, "UID")
	if err != nil {
		return unmunged{}, err
	}
	return unmunged{status, uid, strings.TrimSuffix(payload, "\n")}, nil
}

// named parses a value such as "ann (1000)".
func named(values map[string]string, key string) (name string, number int, err error) {
	value := values[key]
	at := strings.LastIndex(value, " (")
	if at < 0 || !strings.HasSuffix(value, ")") {
		return "", 0, fmt.Errorf("%s is %q in its output", key, plain(value))
	}
	n, err := strconv.ParseUint(value[at+2:len(value)-1], 10, 32)
	if err != nil {
		return "", 0, fmt.Errorf("%s is %q in its output", key, plain(value))
	}
	return strings.TrimSpace(value[:at]), int(n), nil
}
