package fakeprovider

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// This is the codec of the API that grade serves. It proves that a new API takes a codec and a fake, and no line
// elsewhere: its calls are recorded and replayed like those of any other API.
var _ = provider.Register(&provider.Codec{
	API:      "cohere.grade",
	Provider: "cohere",
	Match: func(w *provider.Wire) bool {
		return w.Method == http.MethodPost && strings.HasSuffix(w.URL.Path, "/v9/grade")
	},
	DecodeRequest:  decodeGrade,
	DecodeResponse: decodeGrades,
})

func decodeGrade(w *provider.Wire) (*modelio.Request, error) {
	doc, err := jsontext.Parse(w.Body)
	if err != nil {
		return nil, &provider.WireError{API: "cohere.grade", Reason: err.Error()}
	}
	question := doc.Root().Member("question").Word()
	return &modelio.Request{
		API: "cohere.grade", Model: doc.Root().Member("model").Word(),
		Prompt: &question, Options: doc.Root().Rest("model", "question"),
	}, nil
}

// decodeGrades decodes each grade to a custom part, in the list's order.
func decodeGrades(a *provider.Answer) (*modelio.Response, error) {
	doc, err := jsontext.Parse(a.Body)
	if err != nil {
		return nil, &provider.WireError{API: "cohere.grade", Reason: err.Error()}
	}
	if a.Status >= 300 {
		return &modelio.Response{Error: &modelio.ProviderError{Message: doc.Root().Member("message").Word()}, Complete: true}, nil
	}
	c := modelio.Candidate{Message: modelio.Message{Role: modelio.RoleModel}, FinishReason: modelio.FinishStop}
	for _, grade := range doc.Root().Member("grades").Elements() {
		c.Message.Content = append(c.Message.Content, modelio.Part{Custom: grade.Object()})
	}
	id := doc.Root().Member("id").Word()
	return &modelio.Response{ID: id, Candidates: []modelio.Candidate{c}, Complete: true}, nil
}

// TestAddedAPI records grades, replays them without a provider, and changes a request so that it drifts.
func TestAddedAPI(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	server := New(t)
	server.Reply(Reply{ID: "r"})
	const asked = `{"model":"judge","question":"x","answers":["abc","d"]}`
	run := func(update, body string, upstream http.RoundTripper) (answer string, tb *tbtest.TB) {
		t.Setenv("TRACEFORGE_UPDATE", update)
		tb = tbtest.Run("TestGrading", func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream))
			resp, err := tf.Client().Post("https://api.cohere.com/v9/grade", "application/json", strings.NewReader(body))
			if err != nil {
				tb.Fatalf("%v", err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if answer = string(text); err != nil {
				tb.Fatalf("%v", err)
			}
		})
		return answer, tb
	}

	recorded, tb := run("1", asked, server.Transport())
	require.False(t, tb.Failed(), tb.Logged())
	require.Contains(t, recorded, `"grade":0.5`)

	files, err := filepath.Glob(filepath.Join(dir, "cohere", "*testgrading-*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1, "it is among the provider's others")
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var document struct {
		Snapshots []struct {
			Request struct{ API, Model, Prompt string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &document))
	request := document.Snapshots[0].Request
	require.Equal(t, []string{"cohere.grade", "judge", "x"}, []string{request.API, request.Model, request.Prompt})

	replayed, tb := run("", asked, nobody{})
	require.False(t, tb.Failed(), tb.Logged())
	require.Equal(t, recorded, replayed)
	require.Len(t, server.Calls(), 1)

	_, tb = run("", strings.Replace(asked, `"d"`, `"e"`, 1), nobody{})
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "cohere request drifted from ")
	require.Contains(t, tb.Logged(), "answers")
}

// nobody is a transport for replay, which sends no request.
type nobody struct{}

func (nobody) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("a replay called the provider")
}
