package provider

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

func generateAnswer(body jsontext.Value) (*modelio.Response, error) {
	blocked := body.Member("promptFeedback", "blockReason")
	if !body.Member("candidates").IsArray() && !blocked.Present() && !body.Member("usageMetadata").Present() {
		return nil, neither("candidates")
	}
	resp := &modelio.Response{
		ID:       body.Member("responseId").Word(),
		Model:    body.Member("modelVersion").Word(),
		Usage:    generateUsage.decode(body.Member("usageMetadata")),
		Metadata: beside(body, "responseId", "modelVersion", "usageMetadata", "candidates"),
	}
	for _, candidate := range body.Member("candidates").Elements() {
		resp.Candidates = append(resp.Candidates, generateCandidate(candidate))
	}
	if len(resp.Candidates) == 0 && blocked.Present() {
		refused := candidate(scalarText(blocked))
		refused.FinishReason = modelio.FinishBlocked
		resp.Candidates = []modelio.Candidate{refused}
	}
	return resp, nil
}

func generateCandidate(v jsontext.Value) modelio.Candidate {
	c := candidate(scalarText(v.Member("finishReason")))
	c.Message.Metadata = beside(v, "content", "finishReason", "index")
	c.Message.Content, _ = generateParts(v.Member("content", "parts"))
	asked := only(v.Member("groundingMetadata"), "webSearchQueries", "imageSearchQueries", "retrievalQueries")
	if asked != nil {
		c.Message.Content = append(c.Message.Content, modelio.Part{Custom: asked})
	}
	tidy(&c.Message)
	c.Citations = generateCitations(v, texts.Join(c.Message.Content))
	return c
}

// generateStream folds streamed answers of the API.
var generateStream = foldRules{
	pieces: rules{
		"candidates":    each(growCandidate),
		"usageMetadata": into("usageMetadata", nil), // the last chunk need not repeat everything from an earlier one
	},
	end: endGenerate, inArray: true,
}

// candidatePieces have citations as they are found, possibly with those before.
var candidatePieces = rules{"content": skip, "citationMetadata": into("citationMetadata", rules{"": (*node).unite})}

func growCandidate(candidate *node, piece jsontext.Value) {
	candidatePieces.fold(candidate, piece)
	parts := candidate.member("content").member("parts")
	for _, part := range piece.Member("content", "parts").Elements() {
		growPart(parts, part)
	}
}

var (
	partPieces = rules{"text": (*node).grow, "functionCall": into("functionCall", callRules)}
	callRules  = rules{"willContinue": skip, "partialArgs": growArguments}
)

// growPart continues the last part if the new one has the same kind, text or thought, or adds arguments to a function
// call. Otherwise it starts a new part.
func growPart(parts *node, v jsontext.Value) {
	last := parts.last()
	call := v.Member("functionCall")
	if begun := last.get("functionCall"); begun != nil && call.IsObject() && !has("name", "args")(call) {
		growArguments(begun, "", call.Member("partialArgs"))
		return
	}
	text := last.get("text")
	if text == nil || !v.Member("text").IsString() || last.is("thought") != string(v.Member("thought").Raw()) {
		last = parts.add()
	}
	partPieces.fold(last, v)
}

func endGenerate(f *fold) {
	candidates := f.body.member("candidates")
	candidates.become(arrayNode)
	f.done = len(candidates.items) > 0 || f.body.get("promptFeedback") != nil // the prompt was refused
	for _, candidate := range candidates.items {
		f.done = f.done && candidate.get("finishReason") != nil
	}
}

// growArguments takes the next pieces of a call's arguments, with their JSON paths. Vertex AI sends arguments in
// pieces.
func growArguments(call *node, _ string, pieces jsontext.Value) {
	for _, partial := range pieces.Elements() {
		steps := pathSteps(partial.Member("jsonPath").Word())
		place := call.member("args")
		for _, step := range steps {
			place = place.step(step)
		}
		growArgument(place, partial)
	}
}

// growArgument takes a piece of a string argument, or the complete value of another argument.
func growArgument(argument *node, partial jsontext.Value) {
	for name, v := range partial.Members() {
		switch { // an argument without a value is null
		case name == "stringValue" && v.IsString():
			argument.growText(v)
		case name == "numberValue" || name == "boolValue":
			argument.set(v.Raw())
		}
	}
}

// step returns the value at a step of a path: the name of a member, or an index as "[0".
func (n *node) step(step string) *node {
	inner, isIndex := strings.CutPrefix(step, "[")
	if !isIndex {
		return n.member(step)
	}
	const most = 10_000 // a larger index is a mistake
	index, err := strconv.Atoi(inner)
	if err != nil || index < 0 || index > most {
		index = len(n.list())
	}
	for len(n.list()) <= index {
		n.add()
	}
	return n.items[index]
}

// pathSteps splits a JSON path like $.list[0]['a name'].b into names, and indexes as "[0".
func pathSteps(path string) (steps []string) {
	for _, step := range pathStep.FindAllStringSubmatch(strings.TrimPrefix(path, "$"), -1) {
		steps = append(steps, step[1]+step[2]+step[3])
	}
	return steps
}

var pathStep = regexp.MustCompile(`\['(.*?)'\]|(\[[^\]]*)\]|\.?([^.[]+)`)
