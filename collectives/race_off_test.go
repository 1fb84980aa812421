//go:build !race

package collectives_test

const raced = false
