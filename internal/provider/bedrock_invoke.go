package provider

import (
	"cmp"
	"encoding/base64"
	"errors"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The InvokeModel operations of AWS Bedrock accept the body of the model. Claude's is that of anthropic.messages,
// Amazon's that of bedrock.converse, and others have a prompt.
var _ = Register(&Codec{
	API:     "bedrock.invoke",
	Version: "bedrock-",
	Fixed:   invokeFixed,
	Match:   both(postsToModel("/invoke", "/invoke-with-response-stream"), not(generatesNothing)),
	body:    decodeInvoke,
	outside: operationOf("invoke"),
	answer:  invokeAnswer,
	stream:  foldRules{add: addInvoke},
})

// handled by bedrock.embed and bedrock.rerank
var generatesNothing = either(postsToKind("embed"), postsToKind("rerank"))

// An invokeForm is a form of body that some models accept.
type invokeForm struct {
	name string   // its name as $wire in Options
	has  []string // a body with one of these members has this form
	requestForm
}

// invokeForms are all forms except for that of Claude's messages, which is the default. The first match counts.
var invokeForms = []invokeForm{
	{"nova", []string{"schemaVersion", "inferenceConfig"}, requestForm{
		members: converseMembers, in: converseForm.in,
		parameters: parametersOf("temperature", "max_new_tokens=max_tokens", "topP=top_p", "stopSequences=stop"),
	}},
	{"titan", []string{"inputText"}, requestForm{
		prompt: "inputText", in: "textGenerationConfig",
		parameters: parametersOf("temperature", "maxTokenCount=max_tokens", "topP=top_p", "stopSequences=stop"),
	}},
	{"command", []string{"message"}, prompted("message",
		"temperature", "max_tokens", "p=top_p", "stop_sequences=stop")},
	{"claude-text", []string{"max_tokens_to_sample"}, prompted("prompt",
		"temperature", "max_tokens_to_sample=max_tokens", "top_p", "stop_sequences=stop")},
	{"llama", []string{"max_gen_len"}, prompted("prompt",
		"temperature", "max_gen_len=max_tokens", "top_p")},
	{"jurassic", []string{"maxTokens", "numResults"}, prompted("prompt",
		"temperature", "maxTokens=max_tokens", "topP=top_p", "stopSequences=stop")},
	{"cohere", []string{"p", "k", "num_generations"}, prompted("prompt",
		"temperature", "max_tokens", "p=top_p", "stop_sequences=stop")},
	{"prompt", []string{"prompt"}, prompted("prompt",
		"temperature", "max_tokens", "top_p", "stop")},
}

func decodeInvoke(body jsontext.Value) *modelio.Request {
	for _, form := range invokeForms {
		if has(form.has...)(body) {
			req := form.decode(body)
			req.Options[markWire] = jsontext.Text(form.name)
			return req
		}
	}
	return claudeForm.decode(body)
}

// invokeUnwrap returns the value that an event of a streamed answer contains in base64.
func invokeUnwrap(event jsontext.Value) (jsontext.Value, error) {
	text, isText := event.Member("bytes").Text()
	chunk, err := base64.StdEncoding.DecodeString(text)
	if !isText || err != nil {
		return jsontext.Value{}, errors.New("bytes is no base64")
	}
	doc, err := jsontext.Parse(chunk)
	return doc.Root(), err
}

// invokeTexts are the members with the text and the finish reason in answers of models with a prompt. They are in the
// body, or in the elements of a list.
var invokeTexts = []struct {
	list         string
	text, finish []string
}{
	{list: "results", text: []string{"outputText"}, finish: []string{"completionReason"}},             // Titan
	{list: "outputs", text: []string{"text"}, finish: []string{"stop_reason"}},                        // Mistral
	{list: "generations", text: []string{"text"}, finish: []string{"finish_reason"}},                  // Cohere
	{list: "completions", text: []string{"data", "text"}, finish: []string{"finishReason", "reason"}}, // AI21
	{list: "choices", text: []string{"text"}, finish: []string{"stop_reason"}},                        // DeepSeek
	{text: []string{"completion"}, finish: []string{"stop_reason"}},                                   // Claude 2
	{text: []string{"generation"}, finish: []string{"stop_reason"}},                                   // Llama
	{text: []string{"text"}, finish: []string{"finish_reason"}},                                       // Cohere
}

const invokeMetrics = "amazon-bedrock-invocationMetrics"

var invokeUsage = usageNames{
	input: paths{"inputTextTokenCount", "prompt_token_count", invokeMetrics + "/inputTokenCount", "usage/input_tokens"},
	output: paths{
		"generation_token_count", "totalOutputTextTokenCount", invokeMetrics + "/outputTokenCount", "usage/output_tokens",
	},
	cacheRead:  paths{invokeMetrics + "/cacheReadInputTokenCount"},
	cacheWrite: paths{invokeMetrics + "/cacheWriteInputTokenCount"},
	cacheApart: true,
}

// invokeAnswer decodes the answer of any model, to which a guardrail may have added something.
func invokeAnswer(body jsontext.Value) (*modelio.Response, error) {
	resp := answerOfModel(body)
	said := &resp.Candidates[0].Message
	said.Content = append(said.Content, guarded(body.Member("amazon-bedrock-trace"))...)
	return resp, nil
}

// answerOfModel decodes the answer of any model to at least one candidate.
func answerOfModel(body jsontext.Value) *modelio.Response {
	switch {
	case body.Member("content").IsArray():
		return claudeReply(body)
	case body.Member("output", "message").IsObject():
		return converseReply(body)
	case body.Member("choices").Head().Member("message").IsObject():
		resp := chatCompletion(body)
		resp.Usage = cmp.Or(resp.Usage, invokeUsage.among(body))
		return resp
	}
	resp := &modelio.Response{Usage: invokeUsage.among(body)}
	for _, form := range invokeTexts {
		if form.list == "" {
			addText(resp, body, form.text, form.finish)
		}
		for _, e := range body.Member(form.list).Elements() {
			addText(resp, e, form.text, form.finish)
		}
		if len(resp.Candidates) > 0 {
			return resp
		}
	}
	resp.Candidates = looseResponse(modelio.Part{Custom: body.Object()}).Candidates // such as an embedding
	return resp
}

// addText adds a candidate if v contains a text.
func addText(r *modelio.Response, v jsontext.Value, text, finish []string) {
	said, ok := v.Member(text...).Text()
	if !ok {
		return
	}
	c := candidate(v.Member(finish...).Word(), modelio.TextPart(said))
	tidy(&c.Message)
	r.Candidates = append(r.Candidates, c)
}

// addInvoke takes an event, which contains an event of the model. The first one shows which model it is.
func addInvoke(f *fold, _ string, event jsontext.Value) {
	inner, err := invokeUnwrap(event)
	if err != nil {
		f.wrong = err
		return
	}
	kind, converse := converseEvent(inner)
	if kind != "" {
		inner = converse
	}
	switch {
	case f.model.add != nil:
	case kind != "":
		f.model = converseStream
	case inner.Member("type").IsWord():
		f.model = claudeStream
	case inner.Member("choices").Head().Member("delta").IsObject(): // OpenAI's models
		f.model = foldRules{add: addChatChunk, end: endChat}
	default:
		f.model = textStream
	}
	f.end = f.model.end
	f.model.add(f, kind, inner)
}

func addChatChunk(f *fold, _ string, chunk jsontext.Value) { chatStream.pieces.fold(&f.body, chunk) }

// textStream folds the pieces of one or more texts.
var textStream = foldRules{add: addTextPiece, end: endTexts}

func addTextPiece(f *fold, _ string, chunk jsontext.Value) {
	f.body.become(objectNode)
	for name, v := range chunk.Members() {
		switch name {
		case "outputText", "completion", "generation", "text":
			if index := chunk.Member("index"); index.Present() {
				f.body.member("outputs").at(index).grow("text", v)
			} else {
				f.body.grow(name, v)
			}
		case "outputs", "choices":
			for i, output := range v.Elements() {
				f.body.member("outputs").item(int64(i)).grow("text", output.Member("text"))
				f.ends("stop_reason", output.Member("stop_reason"))
			}
		case "completionReason", "stop_reason", "finish_reason":
			f.ends(name, v)
		case invokeMetrics: // in the last event
			f.done = true
			f.body.put(name, v)
		case "amazon-bedrock-guardrailAction": // in the only event, if it stopped the model
			f.done = f.done || v.Word() == "INTERVENED"
			f.body.put(name, v)
		case "is_finished":
			f.done = f.done || string(v.Raw()) == "true"
		default:
			f.body.put(name, v)
		}
	}
}

// ends takes the finish reason.
func (f *fold) ends(name string, v jsontext.Value) {
	f.done = f.done || v.IsWord()
	f.body.put(name, v)
}

func endTexts(f *fold) {
	for _, output := range f.body.get("outputs").list() {
		for _, name := range []string{"completionReason", "stop_reason", "finish_reason"} {
			if reason := f.body.get(name); reason != nil {
				output.member("stop_reason").set(reason.json())
			}
		}
	}
}
