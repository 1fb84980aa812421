package main

import (
	"testing"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
	"github.com/stretchr/testify/assert"
)

func TestTheTableHasEveryFolder(t *testing.T) { assert.Empty(t, cli.Folders(".", commands)) }
