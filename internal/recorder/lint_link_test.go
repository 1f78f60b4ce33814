package recorder_test

import (
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

func init() { recorder.Lint.Deterministic, recorder.Lint.Notes = lint.Deterministic, lint.Notes }
