// Package detect measures how long it takes from a SIGKILL until the pending receive of
// every survivor has returned ulfm.ErrProcFailed. Started by itself it runs a job
// of -n ranks -runs times through the launcher and prints minimum, median and
// maximum; the ranks are the same program.
//
//	go build -o goulfm ./cmd/goulfm
//	go run ./bench/measure detect -goulfm ./goulfm -n 16 -touch 1024
package detect
