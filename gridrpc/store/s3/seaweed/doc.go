// Package seaweed runs SeaweedFS, an object store that keeps several copies of everything, for
// tests: as processes of this machine that can be killed one by one. "make s3" builds it, and runs
// what needs it.
//
// A service has a master, which knows where files are; servers of volumes, which have their bytes;
// a filer, which has their names; and a process that speaks S3. Each byte is on as many servers of
// volumes as the test asks for; of the others there is one each here.
package seaweed
