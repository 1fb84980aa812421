// Package store opens the stores of checkpoints that servers of package server use, by their
// names.
//
//	the path of a folder                  files in a folder that all servers see
//	s3://BUCKET, s3://BUCKET/FOLDER       a bucket of an object store: package store/s3
//	jetstream://HOST:PORT,...             the platform's own store: package store/jetstream
//
// A folder needs no further package. Every other kind of store is a package that registers itself,
// as drivers of database/sql do. So a program links only the stores that it uses:
//
//	import _ "github.com/goulfm/goulfm/gridrpc/store/s3"
//
// The error for a store that is not linked is ErrNotLinked, and names the import. The command
// gridrpc links all stores of this module; a program of servers imports the store of its platform.
package store
