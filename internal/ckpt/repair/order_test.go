package repair

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFilesBeforeAStopOfNothing: version 2 is being written to files when all are requested to
// stop. Before the boundary of the last version, 3, each rank writes its file of version 3, in
// place of 2's. The boundary commits nothing, because one rank's copy is not complete: 3 must not
// be published. Before the next boundary version 3 is written once more, and then it is published.
func TestFilesBeforeAStopOfNothing(t *testing.T) {
	w := World{cfg: Config{Files: true}, lastOne: true, filesOpen: true}
	assert.Equal(t, FilesAsBefore, w.orderFiles(FilesDone, false))
	assert.Equal(t, FilesPublish, w.orderFiles(FilesDone, true))

	w = World{cfg: Config{Files: true}, filesOpen: true}
	assert.Equal(t, FilesPublish, w.orderFiles(FilesDone, false), "an older version, which is committed")
	assert.False(t, w.filesOpen)
}
