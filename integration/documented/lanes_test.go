package documented

import (
	"fmt"
	"net/http"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ = func(tf *traceforgetest.Recorder, work func(*http.Client), workers int) {
	for i := range workers {
		go work(tf.Lane(fmt.Sprint("worker-", i)))
	}
}
