// Package results is where a server holds results of calls that are kept, if they are large: in
// the store of the platform.
//
//	kept/SERVER/CALL-ATTEMPT    a header in one line, then the result
//
// What an incarnation of a server has put there the next one of the same name finds. Whoever
// reads it gets the whole result or an error.
package results
