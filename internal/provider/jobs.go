package provider

import (
	"regexp"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The APIs whose result is fetched later, and those that store parts of conversations. All have the form of resources.
var (
	_ = Register(resources("openai.conversations", both(
		pathLike(`/v1/conversations(/[^/]+(/items(/[^/]+)?)?)?$`), not(sentTo("mistral")))))
	_ = Register(resources("mistral.agents", both(pathLike(`/v1/agents(/[^/]*[0-9][^/]*(/[^/]+)*)?$`),
		not(either(isOpenAIAgents, isAnthropics)))))
	_ = Register(resources("mistral.batches", pathLike(`/v1/batch/jobs(/[^/]+(/cancel)?)?$`)))
	_ = Register(resources("watsonx.resources", pathLike(`/ml/v[^/]+/foundation_model_(specs|tasks)$`)))
	_ = Register(resources("cloudflare.resources", pathLike(`/accounts/[^/]+/ai/(models|tasks)/[a-z]+$`)))
	_ = Register(resources("bedrock.resources", pathLike(`^/(foundation-models|inference-profiles|guardrails)(/.+)?$`)))
	_ = Register(resources("openai.organization", pathLike(`/v1/organization/.+$`)))
	_ = Register(resources("openai.realtime_sessions",
		pathLike(`/v1/realtime/(sessions|transcription_sessions|client_secrets)$`)))

	_ = Register(jobs("bfl.images", isBFL, modelAt(bflModel)))
	_ = Register(jobs("openai.videos", both(pathLike(`/v1/videos(/[^/:]+){0,2}$`), isOpenAIs), nil))
	_ = Register(jobs("xai.videos", both(pathLike(`/v1/videos/[^/:]+$`), not(isOpenAIs)), nil))
	_ = Register(jobs("google.batches", pathOf(googleBatches), modelAt(googleBatches)))
	_ = Register(resources("azure.content_understanding", pathLike(`/contentunderstanding/[a-zA-Z]+(/.+)?$`),
		func(c *Codec) { c.answer = analysisOf }))
	_ = Register(resources("openai.responses.stored", pathLike(`/responses/[^/]*[0-9][^/]*(/(input_items|cancel))?$`),
		func(c *Codec) { c.response = storedResponse }))
)

var (
	isOpenAIs     = either(sentTo("openai"), sentTo("azure"))
	isBFLResult   = pathLike(`/v1/(get_result|my_finetunes|finetune_details|credits)$`)
	bflModel      = regexp.MustCompile(`/v1/([^/]*)$`)
	googleBatches = regexp.MustCompile(`/models/([^/:]+):(?:batchGenerateContent|asyncBatchEmbedContent)$`)
)

func isBFL(w *Wire) bool {
	return knownHost(bareHost(w.URL)) == "bfl" &&
		(isBFLResult(w) || w.Method == "POST" && bflModel.MatchString(w.URL.Path))
}

// jobs returns the codec of an API of jobs that start with a prompt; outside takes the model.
func jobs(api string, at func(*Wire) bool, outside outside) *Codec {
	return resources(api, at, func(c *Codec) {
		c.Match, c.outside, c.body, c.answer = at, outside, requestForm{prompt: "prompt"}.decode, jobOf
	})
}

// made are the places of the result's URL in the answer to a finished job.
var made = [][]string{{"result", "sample"}, {"video", "url"}}

// jobOf decodes a job: its result is media.
func jobOf(body jsontext.Value) (*modelio.Response, error) {
	resp, err := resourcesOf(body)
	for _, path := range made {
		if url := body.Member(path...); url.IsWord() {
			content := &resp.Candidates[0].Message.Content
			*content = append(*content, media(url.Word()))
		}
	}
	return resp, err
}

// layout are members of a content that describe the position of words.
var layout = []string{"pages", "paragraphs", "sections", "tables", "figures", "hyperlinks", "annotations",
	"transcriptPhrases"}

const longLayout = 2 << 10 // bytes, from which a layout is a medium

// analysisOf decodes a job of Azure's content understanding. Each analyzed content gives its text, a custom part with
// the findings and, if it is long, its layout as a medium.
func analysisOf(body jsontext.Value) (*modelio.Response, error) {
	contents := body.Member("result", "contents")
	if !contents.IsArray() {
		return resourcesOf(body)
	}
	said, _ := steadyOf(body, "")
	result := modelio.Object{}
	for name, m := range body.Member("result").Members() {
		if name != "contents" && !isTime(name, m) {
			result[name] = m.Raw()
		}
	}
	said["result"] = jsontext.ObjectText(result)
	parts := []modelio.Part{{Custom: said}}
	for _, v := range contents.Elements() {
		if text := v.Member("markdown"); text.IsWord() {
			parts = append(parts, modelio.TextPart(text.Word()))
		}
		found := v.Rest("markdown")
		if where := jsontext.ObjectText(only(v, layout...)); len(where) > longLayout {
			found = v.Rest(append([]string{"markdown"}, layout...)...)
			parts = append(parts, mediumOf("application/json", where))
		}
		parts = append(parts, modelio.Part{Custom: found})
	}
	return looseResponse(parts...), nil
}

// storedResponse decodes a response that OpenAI has stored: it is decoded like the original.
func storedResponse(a *Answer) (*modelio.Response, error) {
	doc, err := parseAnswer(a.Body)
	if a.Events() != nil || err == nil && isResponse(doc.Root()) {
		return a.decode(responsesStream, responsesAnswer)
	}
	return decodeResources(a, resourcesOf)
}
