// Package detect measures the time from a SIGKILL until the pending receive of every survivor has
// returned ulfm.ErrProcFailed. Without a launcher the program runs a job of -n ranks -runs times
// through the launcher and prints minimum, median and maximum; the ranks are the same program.
//
//	go build -o goulfm ./cmd/goulfm
//	go run ./bench/measure detect -goulfm ./goulfm -n 16 -touch 1024
package detect
