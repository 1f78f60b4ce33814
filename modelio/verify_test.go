package modelio_test

import (
	"cmp"
	"github.com/traceforge/traceforge-go/modelio"
	"slices"
)

func sortAsMI10(violations []modelio.Violation) {
	slices.SortFunc(violations, func(a, b modelio.Violation) int {
		return cmp.Compare(a.RuleID+"\x00"+a.Path+"\x00"+a.Message, b.RuleID+"\x00"+b.Path+"\x00"+b.Message)
	})
}
