// Package results stores the large results of kept calls in the store of the platform.
//
//	kept/SERVER/CALL-ATTEMPT    a header in one line, then the result
//
// The next incarnation of a server finds the results of the earlier ones of the same name. A reader
// gets either the whole result or an error.
package results
