package repair

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFilesBeforeAStopOfNothing: version 2 is on its way to files when all are asked to stop.
// Before the boundary of the last version, 3, each rank writes its file of that, in place of 2's.
// The boundary commits nothing, as one rank's copy is not complete: 3 must not be published. Before
// the next boundary it is written once more, and then it is.
func TestFilesBeforeAStopOfNothing(t *testing.T) {
	w := World{cfg: Config{Files: true}, lastOne: true, filesOpen: true}
	assert.Equal(t, FilesAsBefore, w.orderFiles(FilesDone, false))
	assert.Equal(t, FilesPublish, w.orderFiles(FilesDone, true))

	w = World{cfg: Config{Files: true}, filesOpen: true}
	assert.Equal(t, FilesPublish, w.orderFiles(FilesDone, false), "an older version, which is committed")
	assert.False(t, w.filesOpen)
}
