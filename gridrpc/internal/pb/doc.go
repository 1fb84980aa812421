// Package pb is the wire of a platform: protobuf messages and gRPC services, generated from
// gridrpc.proto.
package pb

// Wire returns the name of the wire, with its version.
func Wire() string { return string(File_gridrpc_proto.Package()) }

//go:generate protoc --python_out=../../examples/python gridrpc.proto
//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative gridrpc.proto
