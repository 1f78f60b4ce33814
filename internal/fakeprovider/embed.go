package fakeprovider

import (
	"net/http"
	"strings"
)

// geminiEmbed is Google's formats for embedding one content and several contents.
type geminiEmbed struct{ gemini }

var _ = serve(atMethod(geminiEmbed{}, "embedContent", "batchEmbedContents"))

func (geminiEmbed) name() string { return "gemini.embed" }

// An embedRequest is the request for one content. Vertex AI has its settings in an object.
type embedRequest struct {
	Content    *geminiContent `json:"content"`
	Dimensions int            `json:"outputDimensionality"`
	Config     struct {
		Dimensions int `json:"outputDimensionality"`
	} `json:"embedContentConfig"`
}

func (g geminiEmbed) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return invalidGoogle("Invalid JSON payload received. %v", err)
	}
	var verb string
	c.Model, verb, _ = geminiVerb(c.Path)
	requests := make([]embedRequest, 1)
	if verb == "batchEmbedContents" {
		requests = nil
		if !body.into("requests", &requests) {
			return invalidGoogle("* BatchEmbedContentsRequest.requests: at least one request is required\n")
		}
	} else {
		body.into("content", &requests[0].Content)
		body.into("outputDimensionality", &requests[0].Dimensions)
		body.into("embedContentConfig", &requests[0].Config)
	}
	for _, r := range requests {
		if r.Content == nil {
			return invalidGoogle("* EmbedContentRequest.content: contents is not specified\n")
		}
		c.asks(r.Content.message().Text)
		c.dimensions = max(r.Dimensions, r.Config.Dimensions)
	}
	return nil
}

func (geminiEmbed) whole(x *exchange) []byte {
	all := []object{}
	for _, v := range x.vectors() {
		all = append(all, object{{"values", v}})
	}
	counts := member{"usageMetadata", object{{"promptTokenCount", x.usage().Input}}}
	if strings.HasSuffix(x.call.Path, ":embedContent") {
		return indented(object{{"embedding", all[0]}, counts})
	}
	return indented(object{{"embeddings", all}, counts})
}

// stream is never called. Neither are the stream methods below: no call of these formats asks for a stream.
func (geminiEmbed) stream(*exchange) []event { return nil }

// vertexPredict is Vertex AI's format for models of any kind. Here the models embed texts, which the call sends as
// contents, or make images from prompts.
type vertexPredict struct{ gemini }

var _ = serve(atMethod(vertexPredict{}, "predict"))

func (vertexPredict) name() string { return "vertex.predict" }

func (vertexPredict) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return invalidGoogle("Invalid JSON payload received. %v", err)
	}
	c.Model, _, _ = geminiVerb(c.Path)
	var instances []struct{ Content, Prompt string }
	var parameters struct {
		Dimensions int `json:"outputDimensionality"`
	}
	if !body.into("instances", &instances) || len(instances) == 0 {
		return invalidGoogle("Request contains an invalid argument: instances is required.")
	}
	for _, i := range instances {
		c.asks(i.Content + i.Prompt)
		c.images = i.Prompt != ""
	}
	body.into("parameters", &parameters)
	c.dimensions = parameters.Dimensions
	return nil
}

func (vertexPredict) whole(x *exchange) []byte {
	all := []object{}
	for i, v := range x.vectors() {
		if x.call.images {
			all = append(all, object{{"mimeType", "image/png"}, {"bytesBase64Encoded", pack(v)}})
			continue
		}
		counts := object{{"truncated", false}, {"token_count", 1 + len(strings.Fields(x.call.Messages[i].Text))}}
		all = append(all, object{{"embeddings", object{{"values", v}, {"statistics", counts}}}})
	}
	if x.call.images {
		return indented(object{{"predictions", all}})
	}
	return indented(object{{"predictions", all}, {"metadata", object{{"billableCharacterCount", 20}}}})
}

func (vertexPredict) stream(*exchange) []event { return nil }

// cohereEmbed is Cohere's format for embeddings. Version 1 answers with one list if the call requests no types.
type cohereEmbed struct{ cohere }

var (
	_ = serve(at(cohereEmbed{}, "/v1/embed"))
	_ = serve(at(cohereEmbed{}, "/v2/embed"))
)

func (cohereEmbed) name() string { return "cohere.embed" }

func (cohereEmbed) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return badCohere("%v", err)
	}
	c.Model = body.str("model")
	var texts, types []string
	if !body.into("texts", &texts) || len(texts) == 0 {
		return badCohere("valid texts must be specified")
	}
	body.into("embedding_types", &types)
	if types == nil && strings.HasSuffix(c.Path, "/v2/embed") {
		types = []string{"float"}
	}
	c.asks(texts...)
	c.types = types
	body.into("output_dimension", &c.dimensions)
	return nil
}

func (cohereEmbed) whole(x *exchange) []byte {
	texts := []string{}
	for _, m := range x.call.Messages {
		texts = append(texts, m.Text)
	}
	vectors := x.vectors()
	kind, embeddings := "embeddings_floats", any(vectors)
	if x.call.types != nil {
		byType := object{}
		for _, name := range x.call.types {
			byType = append(byType, member{name, ofType(name, vectors)})
		}
		kind, embeddings = "embeddings_by_type", byType
	}
	return marshal(object{
		{"id", x.answerID(x.mint.uuid())},
		{"texts", texts},
		{"embeddings", embeddings},
		{"meta",
			object{{"api_version", object{{"version", "2"}}}, {"billed_units", object{{"input_tokens", x.usage().Input}}}}},
		{"response_type", kind},
	})
}

// ofType returns vectors in one of Cohere's number types: unchanged, packed, or as whole numbers.
func ofType(name string, vectors [][]float64) any {
	var all []any
	for _, v := range vectors {
		switch name {
		case "float":
			all = append(all, v)
		case "base64":
			all = append(all, pack(v))
		default:
			whole := []int{}
			for _, f := range v {
				whole = append(whole, int(f*127))
			}
			all = append(all, whole)
		}
	}
	return all
}

func (cohereEmbed) stream(*exchange) []event { return nil }

// ollamaEmbed is Ollama's format for embeddings, and its older format for a single embedding.
type ollamaEmbed struct{ ollama }

const ollamaEmbeddingsPath = "/api/embeddings"

var (
	_ = serve(at(ollamaEmbed{}, "/api/embed"))
	_ = serve(at(ollamaEmbed{}, ollamaEmbeddingsPath))
)

func (ollamaEmbed) name() string { return "ollama.embed" }

func (f ollamaEmbed) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	if strings.HasSuffix(c.Path, ollamaEmbeddingsPath) {
		c.asks(body.str("prompt"))
		return nil
	}
	inputs, ok := texts(body["input"])
	if !ok {
		return &Failure{Status: http.StatusBadRequest, Message: "invalid input type"}
	}
	c.asks(inputs...)
	body.into("dimensions", &c.dimensions)
	return nil
}

func (ollamaEmbed) whole(x *exchange) []byte {
	vectors := x.vectors()
	if strings.HasSuffix(x.call.Path, ollamaEmbeddingsPath) {
		return marshal(object{{"embedding", vectors[0]}})
	}
	took := 1_000_000 * (100 + x.mint.rng.IntN(900)) // nanoseconds
	return marshal(object{
		{"model", x.model()},
		{"embeddings", vectors},
		{"total_duration", took},
		{"load_duration", took / 10},
		{"prompt_eval_count", x.usage().Input},
	})
}

func (ollamaEmbed) stream(*exchange) []event { return nil }

// titanEmbed is the format of Amazon's embedding models in Bedrock's InvokeModel.
type titanEmbed struct{ invoke }

func (titanEmbed) name() string { return "bedrock.embed" }

func (f titanEmbed) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	if body.str("inputText") == "" {
		return invalidAWS(
			"Malformed input request: #: required key [inputText] not found, please reformat your input and try again.")
	}
	c.asks(body.str("inputText"))
	body.into("dimensions", &c.dimensions)
	return nil
}

func (titanEmbed) whole(x *exchange) []byte {
	return marshal(object{{"embedding", x.vectors()[0]}, {"inputTextTokenCount", x.usage().Input}})
}

func (titanEmbed) stream(*exchange) []event { return nil }
