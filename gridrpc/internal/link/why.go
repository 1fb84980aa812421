package link

import (
	"context"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// IsSilence reports whether an error of a call is the silence of the other side.
func IsSilence(err error) bool {
	said := status.Convert(err)
	return said.Code() == codes.DeadlineExceeded || said.Code() == codes.Unavailable && strings.Contains(said.Message(), context.DeadlineExceeded.Error()) // in a handshake
}

// IsRefusal reports whether an error of a call is the answer of a machine that no process listens.
func IsRefusal(err error) bool {
	said := status.Convert(err)
	return said.Code() == codes.Unavailable && strings.Contains(said.Message(), syscall.ECONNREFUSED.Error())
}

// Why gives an error of a call in plain words, without those of gRPC.
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
