package fakeprovider

import (
	"cmp"
	"encoding/json"
	"slices"
)

// rerank is Cohere's format for ranking documents.
type rerank struct{ cohere }

var _ = serve(func(c *Call) format {
	if c.Path == "/rerank" { // the path of Bedrock's rerank
		return nil
	}
	return at(rerank{}, "/rerank")(c)
})

func (rerank) name() string { return "cohere.rerank" }

func (rerank) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return badCohere("%v", err)
	}
	c.Model = body.str("model")
	return readRanking(c, body, badCohere)
}

// readRanking reads documents. Each is a text or an object with a text.
func readRanking(c *Call, body members, bad func(string, ...any) *Failure) *Failure {
	var documents []json.RawMessage
	if !body.into("documents", &documents) || body.str("query") == "" {
		return bad("query and documents are required")
	}
	for _, document := range documents {
		var o struct{ Text string }
		if json.Unmarshal(document, &o.Text) != nil {
			json.Unmarshal(document, &o)
		}
		c.asks(o.Text)
	}
	return nil
}

// ranked returns the indexes of the documents with scores, shortest document first.
func ranked(c *Call, score string) []object {
	order := []int{}
	for i := range c.Messages {
		order = append(order, i)
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(len(c.Messages[a].Text), len(c.Messages[b].Text)) })
	results := []object{}
	for _, i := range order {
		results = append(results, object{{"index", i}, {score, 1 / float64(1+len(c.Messages[i].Text))}})
	}
	return results
}

func (rerank) whole(x *exchange) []byte {
	return marshal(object{
		{"id", x.answerID(x.mint.uuid())},
		{"results", ranked(x.call, "relevance_score")},
		{"meta", object{{"api_version", object{{"version", "2"}}}, {"billed_units", object{{"search_units", 1}}}}},
	})
}

func (rerank) stream(*exchange) []event { return nil }

// invokeRerank is Cohere's rerank format in Bedrock's InvokeModel.
type invokeRerank struct{ invoke }

func (invokeRerank) name() string { return "bedrock.rerank" }

func (f invokeRerank) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	return readRanking(c, body, func(message string, _ ...any) *Failure { return invalidAWS(message) })
}

func (invokeRerank) whole(x *exchange) []byte {
	return marshal(object{{"results", ranked(x.call, "relevance_score")}})
}

func (invokeRerank) stream(*exchange) []event { return nil }

// agentRerank is the rerank format of Bedrock's agent runtime.
type agentRerank struct{ bedrock }

var _ = serve(func(c *Call) format {
	if c.Path != "/rerank" {
		return nil
	}
	return agentRerank{}
})

func (agentRerank) name() string { return "bedrock.rerank" }

func (agentRerank) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return &Failure{Status: 400, Type: "SerializationException", Message: err.Error()}
	}
	var sources []struct {
		Inline struct {
			Document struct {
				Text string `json:"text"`
			} `json:"textDocument"`
		} `json:"inlineDocumentSource"`
	}
	if !body.has("queries") || !body.into("sources", &sources) || len(sources) == 0 {
		return invalidAWS("queries and sources must have at least one element")
	}
	for _, s := range sources {
		c.asks(s.Inline.Document.Text)
	}
	return nil
}

func (agentRerank) whole(x *exchange) []byte {
	return marshal(object{{"results", ranked(x.call, "relevanceScore")}})
}

func (agentRerank) stream(*exchange) []event { return nil }
