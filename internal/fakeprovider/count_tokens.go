package fakeprovider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// anthropicCount is Anthropic's format for counting tokens. On Vertex AI it has another path.
type anthropicCount struct{ anthropicMessages }

const vertexCountPath = "/publishers/anthropic/models/count-tokens:rawPredict"

var (
	_ = serve(at(anthropicCount{}, "/v1/messages/count_tokens"))
	_ = serve(at(anthropicCount{}, vertexCountPath))
)

func (anthropicCount) name() string { return "anthropic.count_tokens" }

func (f anthropicCount) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return refusal("The request body is not valid JSON: %v", err)
	}
	switch {
	case !body.into("model", &c.Model):
		return refusal("model: Field required")
	case body.has("max_tokens"):
		return refusal("max_tokens: Extra inputs are not permitted")
	}
	body["max_tokens"] = json.RawMessage("1") // readBody requires it
	return f.readBody(c, body)
}

func (anthropicCount) whole(x *exchange) []byte {
	return marshal(object{{"input_tokens", x.usage().Input}})
}

func (anthropicCount) stream(*exchange) []event { return nil }

// openAICount is OpenAI's format for counting the tokens of a request to its responses format.
type openAICount struct{ openAIResponses }

var _ = serve(atOpenAI(openAICount{}, "/responses/input_tokens"))

func (openAICount) name() string { return "openai.input_tokens" }

func (openAICount) whole(x *exchange) []byte {
	return indented(object{{"object", "response.input_tokens"}, {"input_tokens", x.usage().Input}})
}

// geminiCount is Google's formats for counting tokens and, on Vertex AI, for listing them.
type geminiCount struct{ gemini }

var _ = serve(atMethod(geminiCount{}, "countTokens", "computeTokens"))

func (geminiCount) name() string { return "gemini.count_tokens" }

func (g geminiCount) whole(x *exchange) []byte {
	if strings.HasSuffix(x.call.Path, ":countTokens") {
		n := x.usage().Input
		return indented(
			object{{"totalTokens", n}, {"promptTokensDetails", []object{{{"modality", "TEXT"}, {"tokenCount", n}}}}})
	}
	infos := []object{}
	for _, m := range x.call.Messages {
		var tokens, ids []string
		for word := range strings.FieldsSeq(m.Text) {
			tokens = append(tokens, base64.StdEncoding.EncodeToString([]byte(word)))
			ids = append(ids, strconv.Itoa(len(word)))
		}
		infos = append(infos, object{{"tokens", tokens}, {"tokenIds", ids}, {"role", m.Role}})
	}
	return indented(object{{"tokensInfo", infos}})
}

func (geminiCount) stream(*exchange) []event { return nil }

// bedrockCount is Bedrock's format for counting the tokens of a request to Converse or InvokeModel.
type bedrockCount struct{ bedrock }

func (bedrockCount) name() string { return "bedrock.count_tokens" }

func (f bedrockCount) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	var input struct {
		Converse    json.RawMessage `json:"converse"`
		InvokeModel struct {
			Body []byte `json:"body"`
		} `json:"invokeModel"`
	}
	switch {
	case !body.into("input", &input):
		return invalidAWS("input is required")
	case input.Converse != nil:
		inner := &Call{Path: c.Path, Body: input.Converse}
		fail = converse{}.read(inner)
		c.Messages = inner.Messages
	default:
		c.asks(string(input.InvokeModel.Body))
	}
	return fail
}

func (bedrockCount) whole(x *exchange) []byte {
	return marshal(object{{"inputTokens", x.usage().Input}})
}

func (bedrockCount) stream(*exchange) []event { return nil }

// cohereTokens is Cohere's formats for splitting a text into tokens, which are words here, and for joining them.
type cohereTokens struct{ cohere }

var (
	_ = serve(at(cohereTokens{}, "/v1/tokenize"))
	_ = serve(at(cohereTokens{}, "/v1/detokenize"))
)

func (cohereTokens) name() string { return "cohere.tokenize" }

func (cohereTokens) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return badCohere("%v", err)
	}
	c.Model = body.str("model")
	var tokens []int
	switch {
	case body.str("text") != "":
		c.asks(strings.Fields(body.str("text"))...)
	case body.into("tokens", &tokens):
		for _, token := range tokens {
			c.asks(fmt.Sprintf("<%d>", token))
		}
	default:
		return badCohere("text or tokens are required")
	}
	return nil
}

func (cohereTokens) whole(x *exchange) []byte {
	words, tokens := []string{}, []int{}
	for _, m := range x.call.Messages {
		words, tokens = append(words, m.Text), append(tokens, 1000+len(m.Text))
	}
	meta := member{"meta", object{{"api_version", object{{"version", "1"}}}}}
	if strings.HasSuffix(x.call.Path, "/detokenize") {
		return marshal(object{{"text", strings.Join(words, " ")}, meta})
	}
	return marshal(object{{"tokens", tokens}, {"token_strings", words}, meta})
}

func (cohereTokens) stream(*exchange) []event { return nil }
