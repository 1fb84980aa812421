// Package pidfd refers to processes by descriptors of the kernel (Linux 5.3). A pidfd refers to one
// process for ever, for any parent and also after its pid is used again.
package pidfd
