// Package pidfd holds processes by descriptors of the kernel (Linux 5.3). A pidfd means one process
// for ever, whoever is its parent and whatever becomes of its number.
package pidfd
