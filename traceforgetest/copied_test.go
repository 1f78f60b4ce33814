package traceforgetest_test

import (
	"testing"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest/copied"
)

// t stands for that of the test that an example is copied into.
var t *testing.T

func TestExamplesAreCopied(t *testing.T) {
	provider := fakeprovider.New(t) // for the example of New, which has none
	provider.Handle(fakeprovider.Echo())
	copied.Run(t, "OPENAI_BASE_URL="+provider.URL()+"/v1", "OPENAI_API_KEY=sk-example")
}
