// Package seaweed runs SeaweedFS, an object store with several copies of each object, for tests.
// Its processes run on this machine and can be killed one by one. "make s3" builds SeaweedFS, and
// runs the tests that need SeaweedFS.
//
// A service has a master, which knows the places of files; volume servers, which have their bytes;
// a filer, which has their names; and a process for the S3 protocol. The test chooses the number of
// copies, each on another volume server. There is one of each other process.
package seaweed
