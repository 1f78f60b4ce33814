package script_test

import (
	"testing"

	"github.com/traceforge/traceforge-go/internal/tbtest/copied"
)

// t stands for that of the test that an example is copied into.
var t *testing.T

func TestExamplesAreCopied(t *testing.T) { copied.Run(t) }
