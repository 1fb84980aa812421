package link

import (
	"context"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// IsSilence reports whether an error of a call means that the other side did not answer.
func IsSilence(err error) bool {
	said := status.Convert(err)
	return said.Code() == codes.DeadlineExceeded || said.Code() == codes.Unavailable && strings.Contains(said.Message(), context.DeadlineExceeded.Error()) // in a handshake
}

// IsRefusal reports whether an error of a call means that no process listens at the address.
func IsRefusal(err error) bool {
	said := status.Convert(err)
	return said.Code() == codes.Unavailable && strings.Contains(said.Message(), syscall.ECONNREFUSED.Error())
}

// Why describes an error of a call in plain words, without the terms of gRPC.
func Why(err error) string {
	switch {
	case IsSilence(err):
		return "no answer"
	case IsRefusal(err):
		return "its machine refuses connections"
	}
	if said, ok := status.FromError(err); ok {
		return said.Message()
	}
	return err.Error()
}
