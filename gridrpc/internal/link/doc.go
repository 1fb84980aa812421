// Package link identifies and connects the processes of a platform: certificates of one authority,
// connections with mutual TLS 1.3, and a check whether a process listens at an address.
package link
