package page

import (
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

// Said returns what an answer says, in a line.
func Said(r *snapshot.Response) string {
	if len(r.Candidates) == 0 {
		if r.Error != nil {
			return strings.Join(strings.Fields("error: "+r.Error.Message), " ")
		}
		return ""
	}
	return strings.Join(strings.Fields(texts(r.Candidates[0].Message.Content)), " ")
}
