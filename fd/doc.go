// Package fd is the failure detector.
package fd
