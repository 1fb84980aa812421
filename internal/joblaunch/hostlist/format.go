package hostlist

import (
	"fmt"
	"strings"
)

// Format writes hosts in Slurm's notation, short and in their order: n1, n2, n3, gpu3 is
// "n[1-3],gpu3". Expand returns the same hosts again. The hosts must be names that Expand could
// have returned.
func Format(hosts []string) string {
	var out strings.Builder
	for i := 0; i < len(hosts); {
		prefix, digits := splitNumber(hosts[i])
		end := i + 1
		for digits != "" && end < len(hosts) && samePrefix(prefix, hosts[end]) {
			end++
		}
		if i > 0 {
			out.WriteByte(',')
		}
		if end == i+1 {
			out.WriteString(hosts[i])
		} else {
			out.WriteString(prefix + "[" + formatNumbers(hosts[i:end], len(prefix)) + "]")
		}
		i = end
	}
	return out.String()
}

// samePrefix reports whether host is prefix and a number.
func samePrefix(prefix, host string) bool {
	p, digits := splitNumber(host)
	return p == prefix && digits != ""
}

// formatNumbers writes the numbers behind the prefix of each host, such as "001-003,12".
func formatNumbers(hosts []string, prefix int) string {
	var parts []string
	for i := 0; i < len(hosts); {
		first := hosts[i][prefix:]
		end := i + 1
		for end < len(hosts) && hosts[end][prefix:] == following(first, end-i) {
			end++
		}
		if last := hosts[end-1][prefix:]; end > i+1 {
			first += "-" + last
		}
		parts = append(parts, first)
		i = end
	}
	return strings.Join(parts, ",")
}

// following returns the number at place k of a range that begins with first. The number has as
// many digits as first, or more if it needs them.
func following(first string, k int) string {
	n, _ := decimal(first) // splitNumber has cut first to digitsMax
	return fmt.Sprintf("%0*d", len(first), n+k)
}

// splitNumber cuts a host into a prefix and the digits at its end, if there are any.
func splitNumber(host string) (prefix, digits string) {
	at := len(host)
	for at > 0 && len(host)-at < digitsMax && isDigit(host[at-1]) {
		at--
	}
	return host[:at], host[at:]
}
