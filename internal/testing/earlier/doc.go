// Package earlier holds files that released builds have written, and the tests that the present
// build reads them.
//
// A user keeps checkpoints for longer than a build of goulfm. The promise: the present build lists,
// verifies and restores the files of each build in testdata, or refuses them with an error that
// names the number of their format and the number that the build knows. A file that was cut short
// or has a changed byte is refused, whichever build has written it.
//
//	testdata/COMMIT/checkpoints    a folder of recovery.Files, as goulfm checkpoint ls lists it
//	testdata/COMMIT/ls.txt         the output of goulfm checkpoint ls of that build
//	testdata/COMMIT/steps.txt      the step of each published version
//
// The values of each version follow from its step and its rank: see jobs_test.go. So a test knows
// them without the file.
//
// # The builds
//
// e872d31 is the first build that has left files with users. A copy of jobs_test.go and write_test.go in
// the tree of that commit, in a folder of the same name and with the import paths of that tree, has
// written its files. Module gridrpc has files of that build in folders testdata/e872d31 of its
// packages internal/ckptset, internal/results, internal/join and store/jetstream.
//
// # Files of a new release
//
// The files are written by the code of the release, before anything in it changes:
//
//	go test ./internal/testing/earlier -run TestWrite -args -write testdata/COMMIT
//	go run ./cmd/goulfm checkpoint ls internal/testing/earlier/testdata/COMMIT/checkpoints \
//	    >internal/testing/earlier/testdata/COMMIT/ls.txt
//
// In module gridrpc the tests TestWrite of the four packages take the same flag.
//
// The tests then read the new folder, too. A folder of an earlier release is never written again.
// When ckptfile.Format rises, the reader keeps the code of the former formats, or the tests and
// CHANGELOG.md state from which release on files are refused.
//
// # Files that do not outlive their build
//
//   - Node memory (internal/shm/rankstore) ends with its job, and a job has one build.
//   - Locks of checkpoint folders (.NAME.lock) hold no data once their job has ended.
//   - Seeds and scripts of goulfm sim, and seeds of stress/randprog, replay a run in the build that
//     printed them. The rules of another build may take other steps.
//   - bench/results.json and stress/endure/long/out/pieces.csv belong to the repository: a commit
//     changes such a file together with its reader.
package earlier
