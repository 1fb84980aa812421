// Package s3 keeps checkpoints in a bucket of an object store with the S3 protocol: that of a
// provider, or Ceph, SeaweedFS, Garage and others on machines of the user.
//
// A name is s3://BUCKET or s3://BUCKET/FOLDER. Other settings are in the environment, with the
// names that other programs use:
//
//	AWS_ENDPOINT_URL        the address of the service; default https://s3.amazonaws.com
//	AWS_REGION              of the bucket, where the service requires it
//	AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
//	                        the account; otherwise from ~/.aws/credentials (AWS_PROFILE)
//
// A Put that fails inside the service (HTTP 5xx) is tried ten times before it returns the error.
// The service determines the time of each attempt, and the context bounds them all.
//
// After its Put has returned an object exists completely, or not at all after an error. The service
// determines whether it outlives a loss of power or of machines.
package s3
