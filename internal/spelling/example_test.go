package spelling_test

import (
	"fmt"

	"github.com/traceforge/traceforge-go/internal/spelling"
)

func ExampleExamine() {
	_, found := spelling.Examine([]byte(`{"version": "1.1.0", "snapshots": []}`))
	for _, v := range found {
		fmt.Println(v)
	}
	// Output:
	// /hash: missing: is required
	// /snapshots: value: must have at least one record
}
