//go:build !linux

// Package shm connects the processes of one node through shared memory. It exists on Linux only: on
// other systems, ranks are goroutines of one process.
package shm
