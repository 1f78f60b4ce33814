package modeltest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"

	"github.com/traceforge/traceforge-go/modelio"
)

// Aggregate joins the chunks of a stream into a message. It uses the chunks of candidate 0, whose message a
// [modelio.GenerateResponse] holds (GK "Streaming"). The result does not depend on how the stream is cut.
//
//   - Consecutive fragments of text are joined, and consecutive fragments of reasoning too. An empty fragment
//     without other members is dropped.
//   - The metadata of joined fragments is united, so that a late thoughtSignature belongs to the text before it. A
//     fragment whose metadata contradicts the metadata before it starts a new part: no metadata is lost.
//   - The chunks of a tool request become one part at the place of the first chunk. Chunks belong together if they have
//     the same ref, or the same name and one of them has no ref. The part is the final chunk plus the metadata and the
//     ref that only a partial chunk had.
//   - A chunk with aggregated:true replaces all chunks before it.
//   - Parts of other kinds stay unchanged. The member custom of a chunk is not part of a message.
//
// The message has the role of the chunks, or model if they have no role. Aggregate does not change the chunks. The
// aggregate of a message sent as one chunk is in normal form: aggregating it again changes nothing.
//
// An error is a [*Breach] of one of the stream rules: a tool request that goes on after its final chunk (MUST have had
// partial:true), that ends partial or with a partial field (MUST NOT), or that loses its input (MUST be complete);
// chunks of several roles; or chunks of other candidates only. The rules hold for each candidate. A stream without
// chunks gives an empty message.
func Aggregate(chunks []*modelio.GenerateResponseChunk) (*modelio.Message, error) {
	candidates := map[int]*aggregate{}
	for i, chunk := range chunks {
		if chunk == nil {
			return nil, breach(RuleStreamCandidate, "chunk %d is nil", i)
		}
		if candidates[chunk.Index] == nil {
			candidates[chunk.Index] = &aggregate{final: map[string]bool{}}
		}
		if err := candidates[chunk.Index].add(i, chunk); err != nil {
			return nil, err
		}
	}
	for _, index := range slices.Sorted(maps.Keys(candidates)) {
		if open := candidates[index].open; len(open) > 0 {
			request := candidates[index].parts[open[0]].ToolRequest
			return nil, breach(RuleStreamFinal, "the stream ends with %s still partial", toolName(request))
		}
	}
	first := candidates[0]
	if first == nil && len(chunks) > 0 {
		return nil, breach(RuleStreamCandidate, "no chunk is of candidate 0")
	}
	return cmp.Or(first, &aggregate{}).message(), nil
}

// An aggregate is one candidate's message during a stream.
type aggregate struct {
	role  modelio.Role
	parts []modelio.Part

	growing strings.Builder // the text or reasoning of the last part, if it is of that kind
	grows   *string         // the field for growing's text; nil if the last part is of another kind

	open  []int           // indexes of the tool requests whose final chunk is missing
	final map[string]bool // refs of the tool requests whose final chunk has come
}

func (a *aggregate) add(i int, chunk *modelio.GenerateResponseChunk) error {
	if chunk.Role != "" && a.role != "" && chunk.Role != a.role {
		return breach(RuleStreamRole, "chunk %d has role %s in a message of role %s", i, chunk.Role, a.role)
	}
	a.role = cmp.Or(a.role, chunk.Role)
	if chunk.Aggregated != nil && *chunk.Aggregated {
		*a = aggregate{role: a.role, final: map[string]bool{}}
	}
	for j := range chunk.Content {
		part := &chunk.Content[j]
		switch {
		case part.ToolRequest != nil:
			if err := a.addToolRequest(part); err != nil {
				err.Detail = fmt.Sprintf("chunk %d, part %d: %s", i, j, err.Detail)
				return err
			}
		case part.Text != nil || part.Reasoning != nil:
			a.addText(part)
		default:
			a.append(*part)
		}
	}
	return nil
}

// append adds a part that later fragments do not extend.
func (a *aggregate) append(part modelio.Part) {
	a.settle()
	a.parts = append(a.parts, part)
}

// settle stores the joined text in the last part.
func (a *aggregate) settle() {
	if a.grows != nil {
		*a.grows = a.growing.String()
		a.grows = nil
		a.growing.Reset()
	}
}

// addText adds a fragment of text or reasoning.
func (a *aggregate) addText(fragment *modelio.Part) {
	text := cmp.Or(fragment.Text, fragment.Reasoning)
	if *text == "" && len(fragment.Metadata)+len(fragment.Custom)+len(fragment.Unknown) == 0 {
		return
	}
	if a.grows != nil {
		last := &a.parts[len(a.parts)-1]
		if (last.Text == nil) == (fragment.Text == nil) && unite(last, fragment) {
			a.growing.WriteString(*text)
			return
		}
	}
	part := *fragment
	grows := new(string)
	if part.Text != nil {
		part.Text = grows
	} else {
		part.Reasoning = grows
	}
	a.append(part)
	a.grows = grows
	a.growing.WriteString(*text)
}

// unite adds the fragment's members besides its text to part. It returns false, and changes nothing, if they
// contradict.
func unite(part, fragment *modelio.Part) bool {
	metadata, ok := union(part.Metadata, fragment.Metadata)
	custom, ok2 := union(part.Custom, fragment.Custom)
	unknown, ok3 := union(part.Unknown, fragment.Unknown)
	if !ok || !ok2 || !ok3 {
		return false
	}
	part.Metadata, part.Custom, part.Unknown = metadata, custom, unknown
	return true
}

// union returns the members of both objects, or false if they contradict. It does not change them.
func union(a, b modelio.Object) (modelio.Object, bool) {
	for name, value := range b {
		if old, ok := a[name]; ok && !sameJSON(old, value) {
			return nil, false
		}
	}
	return overlay(a, b), true
}

// sameJSON reports whether two JSON texts have equal values.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := canon.KeepNumbers(a)
	y, errY := canon.KeepNumbers(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// addToolRequest adds a chunk of a tool request (GK "Tool Request Part", Streaming Behavior).
func (a *aggregate) addToolRequest(part *modelio.Part) *Breach {
	request := part.ToolRequest
	if a.final[request.Ref] {
		return breach(RuleStreamPartial, "%s goes on after a chunk without partial:true", toolName(request))
	}
	if _, spelled := request.Unknown["partial"]; spelled && !request.Partial {
		return breach(RuleStreamFinal, "the final chunk of %s has the partial field", toolName(request))
	}

	n := slices.IndexFunc(a.open, func(at int) bool { return continues(a.parts[at].ToolRequest, request) })
	if n < 0 {
		a.append(*part)
		n = len(a.open)
		a.open = append(a.open, len(a.parts)-1)
	} else {
		before := &a.parts[a.open[n]]
		if !request.Partial && request.Input == nil && before.ToolRequest.Input != nil {
			return breach(RuleStreamInput, "the final chunk of %s has no input", toolName(request))
		}
		*before = latest(before, part)
	}
	if request.Partial {
		return nil
	}
	if ref := a.parts[a.open[n]].ToolRequest.Ref; ref != "" {
		a.final[ref] = true
	}
	a.open = slices.Delete(a.open, n, n+1)
	return nil
}

// continues reports whether next and open are chunks of the same tool request. A chunk need not have a ref, even if
// others of its request do (GK's example).
func continues(open, next *modelio.ToolRequest) bool {
	if open.Ref != "" && next.Ref != "" {
		return open.Ref == next.Ref
	}
	return open.Name == next.Name
}

// latest returns next, a later chunk of the tool request in before, plus the members that only before has.
func latest(before, next *modelio.Part) modelio.Part {
	request := *next.ToolRequest
	request.Ref = cmp.Or(request.Ref, before.ToolRequest.Ref)
	if request.Input == nil {
		request.Input = before.ToolRequest.Input
	}
	request.Unknown = overlay(before.ToolRequest.Unknown, request.Unknown)
	return modelio.Part{
		ToolRequest: &request,
		Metadata:    overlay(before.Metadata, next.Metadata),
		Custom:      overlay(before.Custom, next.Custom),
		Unknown:     overlay(before.Unknown, next.Unknown),
	}
}

// overlay returns the members of both objects. For a member in both, top's value counts. It does not change them.
func overlay(base, top modelio.Object) modelio.Object {
	switch {
	case top == nil: // an empty object stays one
		return base
	case len(base) == 0:
		return top
	}
	all := maps.Clone(base)
	maps.Copy(all, top)
	return all
}

// toolName names a tool request in error messages.
func toolName(request *modelio.ToolRequest) string {
	if request.Ref == "" {
		return fmt.Sprintf("tool request %q", request.Name)
	}
	return fmt.Sprintf("tool request %q (%s)", request.Name, request.Ref)
}

// message returns the message after the last chunk.
func (a *aggregate) message() *modelio.Message {
	a.settle()
	return &modelio.Message{Role: cmp.Or(a.role, modelio.RoleModel), Content: append([]modelio.Part{}, a.parts...)}
}
