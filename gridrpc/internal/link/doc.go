// Package link is how the processes of a platform know and reach each other: certificates
// of one authority, connections under mutual TLS 1.3, and the question whether anybody
// listens at an address.
package link
