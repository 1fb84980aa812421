// Package s3 keeps checkpoints in a bucket of an object store that speaks S3: that of a provider,
// or Ceph, SeaweedFS, Garage and others on machines of one's own.
//
// A name is s3://BUCKET or s3://BUCKET/FOLDER. The rest is in the environment, as other programs
// have it, too:
//
//	AWS_ENDPOINT_URL        where the service is; default https://s3.amazonaws.com
//	AWS_REGION              of the bucket, where that matters
//	AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
//	                        who asks; else the file ~/.aws/credentials is read (AWS_PROFILE)
//
// A Put that the service refuses with an error inside it (HTTP 5xx) is tried ten times before that
// is an error; how long each takes is up to the service, and the context is the bound of them all.
//
// An object is there when its Put has been answered, whole or not at all; that it outlives a loss
// of power, or of machines, is what the service promises.
package s3
