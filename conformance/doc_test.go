// Package conformance_test runs every call in every state: each cell of the matrix in README.md is
// one call of four ranks while processes die or a communicator is revoked. The cells are those of
// package internal/testing/spectable/matrix, and package spectable has the allowed outcomes.
package conformance_test
