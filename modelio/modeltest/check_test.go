package modeltest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
)

// good is a model that obeys the contract. It calls the first offered tool if there are no results yet, generates a
// person if JSON is requested, and otherwise repeats the prompt.
func good(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	content, chunks := goodContent(req)
	if stream != nil {
		for _, parts := range chunks {
			if err := stream(ctx, &modelio.GenerateResponseChunk{Role: modelio.RoleModel, Content: parts}); err != nil {
				return nil, fmt.Errorf("streaming: %w", err)
			}
		}
	}
	return &modelio.GenerateResponse{
		Message:      &modelio.Message{Role: modelio.RoleModel, Content: content},
		FinishReason: modelio.FinishStop,
	}, nil
}

// calls makes good's refs differ between calls.
var calls atomic.Int64

func goodContent(req *modelio.GenerateRequest) (content []modelio.Part, chunks [][]modelio.Part) {
	last := req.Messages[len(req.Messages)-1]
	if len(req.Tools) > 0 && req.ToolChoice != modelio.ToolChoiceNone && last.Role == modelio.RoleUser {
		for _, city := range []string{"Oslo", "Rome"} {
			request := modelio.ToolRequest{
				Name:  req.Tools[0].Name,
				Ref:   fmt.Sprintf("call_%d", calls.Add(1)),
				Input: json.RawMessage(fmt.Sprintf(`{"city":%q}`, city)),
			}
			partial := modelio.ToolRequest{Name: request.Name, Input: json.RawMessage(`{}`), Partial: true}
			content = append(content, modelio.Part{ToolRequest: &request})
			chunks = append(chunks, []modelio.Part{{ToolRequest: &partial}}, []modelio.Part{{ToolRequest: &request}})
		}
		return content, chunks
	}
	text := "You said: " + textOf(last)
	if req.Output != nil && (req.Output.Format == "json" || req.Output.Schema != nil) {
		text = `{"name":"Ada","age":36}`
	}
	thought, thoughtEnd := modelio.ReasoningPart("Hm."), modelio.ReasoningPart("m.")
	thought.Metadata = modelio.Object{"signature": json.RawMessage(`"c2ln"`)}
	thoughtEnd.Metadata = thought.Metadata
	return []modelio.Part{thought, modelio.TextPart(text)},
		[][]modelio.Part{{modelio.ReasoningPart("H")}, {thoughtEnd}, {modelio.TextPart(text[:5])}, {modelio.TextPart(text[5:])}}
}

func textOf(m modelio.Message) string {
	var b strings.Builder
	for _, part := range m.Content {
		if part.Text != nil {
			b.WriteString(*part.Text)
		}
	}
	return b.String()
}

func everything() modelio.ModelInfo { return modelio.InfoOf(modelio.ModelFunc(good)) }

func TestCheck_GoodModel(t *testing.T) {
	everythingButTools := everything()
	everythingButTools.Supports.Tools = false
	noTools := everything()
	noTools.Supports.Constrained = modelio.ConstrainedNoTools
	for _, tc := range []struct {
		name, why string
		info      modelio.ModelInfo
	}{
		{"everything", "it supports all that there is", everything()},
		{"nothing", "it need not support anything", modelio.ModelInfo{}},
		{"no_tools", "requests with tools are not made", everythingButTools},
		{"constrained_without_tools", "the constrained request has no tools", noTools},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.NoError(t, modeltest.Check(t.Context(), modelio.ModelFunc(good), tc.info), tc.why)
		})
	}
}

// TestCheck_FinishReasons checks that GK's four finish reasons are valid and others are not.
func TestCheck_FinishReasons(t *testing.T) {
	for reason, want := range map[modelio.FinishReason]int{
		modelio.FinishStop: 0, modelio.FinishLength: 0, modelio.FinishBlocked: 0, modelio.FinishOther: 0, "": 1, "end_turn": 1,
	} {
		ends := answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) { resp.FinishReason = reason })
		err := modeltest.Check(t.Context(), ends(), modelio.ModelInfo{Supports: modelio.Capabilities{SystemRole: true}})
		require.Equal(t, want, strings.Count(fmt.Sprint(err), "finish-reason: "), "%q: %v", reason, err)
	}
}

// TestCheck_Undeclared checks that Check does not use undeclared capabilities.
func TestCheck_Undeclared(t *testing.T) {
	strict := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		switch {
		case len(req.Messages) != 1:
			return nil, errors.New("one message only")
		case req.Messages[0].Role != modelio.RoleUser:
			return nil, errors.New("user messages only")
		case len(req.Tools) > 0 || req.ToolChoice != "":
			return nil, errors.New("no tools")
		case req.Output != nil && (req.Output.Schema != nil || *req.Output.Constrained):
			return nil, errors.New("no schema")
		}
		for _, part := range req.Messages[0].Content {
			if part.Text == nil {
				return nil, errors.New("text only")
			}
		}
		return good(ctx, req, stream)
	})
	require.NoError(t, modeltest.Check(t.Context(), strict, modelio.ModelInfo{}))
}

// breaches returns the breaches that err joins.
func breaches(t *testing.T, err error) []*modeltest.Breach {
	t.Helper()
	require.Error(t, err)
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "the breaches are joined")
	var all []*modeltest.Breach
	for _, err := range joined.Unwrap() {
		var breach *modeltest.Breach
		require.ErrorAs(t, err, &breach)
		all = append(all, breach)
	}
	return all
}

func TestCheck_WrongModels(t *testing.T) {
	for _, tc := range wrongModels {
		t.Run(string(tc.rule)+"/"+strings.ReplaceAll(tc.why, " ", "_"), func(t *testing.T) {
			err := modeltest.Check(t.Context(), tc.model(), everything())
			for _, breach := range breaches(t, err) {
				require.Equal(t, tc.rule, breach.Rule, "%s: %v", tc.why, err)
				require.NotEmpty(t, breach.Probes)
				t.Log(breach)
			}
		})
	}
}

// TestCheck_Levels checks that a rule is MUST or SHOULD exactly if its clause in GK has that word.
func TestCheck_Levels(t *testing.T) {
	for _, rule := range everyRule(t) {
		clause, want := rule.Clause(), modeltest.Defined
		switch {
		case clause == "":
			want = modeltest.Added
		case strings.Contains(clause, "**MUST"), rule == modeltest.RuleStreamLate: // its clause is in that of RuleStreamChunks
			want = modeltest.Must
		case strings.Contains(clause, "**SHOULD"):
			want = modeltest.Should
		}
		require.Equal(t, want, rule.Level(), "%s", rule)
	}
	for _, tc := range wrongModels {
		for _, breach := range breaches(t, modeltest.Check(t.Context(), tc.model(), everything())) {
			require.Equal(t, breach.Rule.Level(), breach.Level)
		}
	}
}

// TestCheck_ClauseVectors checks that the clauses are GK's words, and that each MUST and SHOULD of GK has a rule.
func TestCheck_ClauseVectors(t *testing.T) {
	spec, err := os.ReadFile(vector.File(t, "../spec/genkit-model-spec.md"))
	require.NoError(t, err)
	left := string(spec)
	for _, rule := range everyRule(t) {
		require.Contains(t, string(spec), rule.Clause(), "%s", rule)
		if clause := rule.Clause(); clause != "" && rule != modeltest.RuleStreamLate {
			left = strings.Replace(left, clause, "", 1)
		}
	}
	var unproven []string
	for line := range strings.Lines(left) {
		if strings.Contains(line, "**MUST") || strings.Contains(line, "**SHOULD") {
			unproven = append(unproven, strings.TrimSpace(line))
		}
	}
	require.Empty(t, unproven)
}

// everyRule reads the rules from the source.
func everyRule(t *testing.T) (rules []modeltest.Rule) {
	t.Helper()
	source, err := os.ReadFile("rules.go")
	require.NoError(t, err)
	for _, match := range regexp.MustCompile(`(?m)^\tRule\w+ +Rule = "(.+?)"`).FindAllStringSubmatch(string(source), -1) {
		rules = append(rules, modeltest.Rule(match[1]))
	}
	require.NotEmpty(t, rules)
	return rules
}

// TestCheck_EveryRule checks that each rule has a model that breaks it.
func TestCheck_EveryRule(t *testing.T) {
	broken := map[modeltest.Rule]bool{modeltest.RuleStreamLate: true} // see TestWarnings
	for _, tc := range wrongModels {
		broken[tc.rule] = true
	}
	for _, tc := range wrongOnTheWire {
		broken[tc.rule] = true
	}
	for _, rule := range everyRule(t) {
		require.True(t, broken[rule], "no wrong model breaks %s", rule)
	}
}

func TestCheck_EveryBreachAtOnce(t *testing.T) {
	careless := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		if len(req.Tools) > 0 {
			panic("no tools here")
		}
		if stream != nil {
			_ = stream(ctx, &modelio.GenerateResponseChunk{Content: []modelio.Part{modelio.TextPart("Yes")}})
		}
		return &modelio.GenerateResponse{Message: &modelio.Message{Role: "assistant", Content: []modelio.Part{modelio.TextPart("Yes.")}}}, nil
	})
	err := modeltest.Check(t.Context(), careless, modelio.ModelInfo{Supports: modelio.Capabilities{Tools: true, SystemRole: true}})
	require.EqualError(t, err, strings.Join([]string{
		`modelio: DEFINED finish-reason: finishReason is "", not stop, length, blocked or other (text, text streamed, system, system streamed, constrained, constrained streamed)`,
		`modelio: DEFINED role: the message has role "assistant" (text, text streamed, system, system streamed, constrained, constrained streamed)`,
		`modelio: MUST stream-aggregate: the chunks make {"content":[{"text":"Yes"}],"role":""}, but the answer is {"content":[{"text":"Yes."}],"role":""} (text streamed, system streamed, constrained streamed)`,
		`modelio: MUST tools: the request fails: panic: no tools here (tools)`,
		`modelio: ADDED stream-error: the callback's error is lost (callback error)`,
		`modelio: ADDED cancel: the request is answered (cancelled context)`,
	}, "\n"))
}

// TestCheck_MoodyModel checks that a model may answer differently each time.
func TestCheck_MoodyModel(t *testing.T) {
	var n atomic.Int64
	moody := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		if req.Output != nil || len(req.Tools) > 0 {
			return good(ctx, req, stream)
		}
		mood := modelio.TextPart(strconv.FormatInt(n.Add(1), 10))
		req = &modelio.GenerateRequest{Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{mood}}}}
		return good(ctx, req, stream)
	})
	require.NoError(t, modeltest.Check(t.Context(), moody, everything()))
	for _, streaming := range []bool{false, true} {
		half := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			if (stream != nil) == streaming {
				return moody(ctx, req, stream)
			}
			return good(ctx, req, stream)
		})
		require.NoError(t, modeltest.Check(t.Context(), half, everything()), "moody when it streams: %t", streaming)
	}
}

// TestCheck_OddModels has models whose answers are unusual and right.
func TestCheck_OddModels(t *testing.T) {
	drawing := answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message.Content = append(resp.Message.Content, modelio.MediaPart("image/png", "data:,x"))
	})
	require.NoError(t, modeltest.Check(t.Context(), drawing(), everything()))

	spelling := edited(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse, _ []*modelio.GenerateResponseChunk) []*modelio.GenerateResponseChunk {
		streamed := slices.Clone(resp.Message.Content)
		resp.Message.Content[0].Metadata = modelio.Object{"x": json.RawMessage(`{"b":1,"a":2}`)}
		streamed[0].Metadata = modelio.Object{"x": json.RawMessage(`{"a":2, "b":1.0}`)}
		return []*modelio.GenerateResponseChunk{{Content: streamed}}
	})
	require.NoError(t, modeltest.Check(t.Context(), spelling(), everything()))

	silent := answered(func(_ *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.Message.Content = []modelio.Part{}
	})
	quiet := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, _ modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		return silent()(ctx, req, nil)
	})
	require.NoError(t, modeltest.Check(t.Context(), quiet, modelio.ModelInfo{}), "what has no parts has no chunks")
}

// TestCheck_Breaches checks that breaches are one only if their rules and their details are equal.
func TestCheck_Breaches(t *testing.T) {
	lazy := refusing(func(*modelio.GenerateRequest) bool { return true })
	var rules []modeltest.Rule
	for _, breach := range breaches(t, modeltest.Check(t.Context(), lazy(), everything())) {
		rules = append(rules, breach.Rule)
	}
	require.Equal(t, []modeltest.Rule{
		modeltest.RuleText, modeltest.RuleSystemRole, modeltest.RuleMultiturn, modeltest.RuleMedia, modeltest.RuleTools,
		modeltest.RuleToolResponse, modeltest.RuleJSON, modeltest.RuleConstrained,
	}, rules)

	words := answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
		resp.FinishReason = modelio.FinishReason(req.Messages[0].Role)
	})
	all := breaches(t, modeltest.Check(t.Context(), words(), modelio.ModelInfo{Supports: modelio.Capabilities{SystemRole: true}}))
	require.Len(t, all, 2, "a finish reason user, and one system")
}

// TestCheck_CutShort checks that a blocked or cut answer need not match the request.
func TestCheck_CutShort(t *testing.T) {
	for _, reason := range []modelio.FinishReason{modelio.FinishBlocked, modelio.FinishLength} {
		model := answered(func(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) {
			resp.FinishReason = reason
			resp.Message.Content = []modelio.Part{modelio.TextPart(`{"na`)}
			if reason == modelio.FinishBlocked && req.Output != nil {
				resp.Message = nil
			}
		})
		require.NoError(t, modeltest.Check(t.Context(), model(), everything()), reason)
	}
}

func TestCheck_ContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := modeltest.Check(ctx, modelio.ModelFunc(good), everything())
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "modelio: check ended early: context canceled")
}

// TestCheck_Image checks that the image of the media probe is valid.
func TestCheck_Image(t *testing.T) {
	var url string
	_ = modeltest.Check(t.Context(), modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		if content := req.Messages[0].Content; len(content) > 1 {
			url = content[1].Media.URL
		}
		return nil, errors.New("enough")
	}), modelio.ModelInfo{Supports: modelio.Capabilities{Media: true, SystemRole: true}})
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:image/png;base64,"))
	require.NoError(t, err)
	image, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	r, g, b, _ := image.At(0, 0).RGBA()
	require.Equal(t, []uint32{0xffff, 0, 0}, []uint32{r, g, b})
}

type declaring struct{ modelio.ModelFunc }

func (declaring) Info() modelio.ModelInfo {
	return modelio.ModelInfo{Label: "small", Supports: modelio.Capabilities{Multiturn: true}}
}

func TestInfoOf(t *testing.T) {
	require.Equal(t, declaring{}.Info(), modelio.InfoOf(declaring{good}))
	require.Equal(t, modelio.Capabilities{
		Multiturn: true, Media: true, Tools: true, ToolChoice: true, SystemRole: true,
		Constrained: modelio.ConstrainedAll, Output: []string{"text", "json", "media"},
	}, modelio.InfoOf(modelio.ModelFunc(good)).Supports, "one that declares nothing is held to all")
}
