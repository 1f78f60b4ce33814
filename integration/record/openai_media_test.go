package record_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	gopenai "github.com/sashabaranov/go-openai"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// mediaScenarios are scenarios of APIs that exchange files. Their answers have no id.
var mediaScenarios = []scenario{
	{
		name: "whole", why: "the plain case",
		reply: []fakeprovider.Reply{fakeprovider.Text("The sun rises.")},
		ask:   question{text: "sunrise"}, says: []string{"The sun rises."},
	},
	{
		name: "streamed", why: "events have pieces of it", needs: streams,
		reply: []fakeprovider.Reply{fakeprovider.Text("The sun rises.")},
		ask:   question{text: "sunrise", stream: true}, says: []string{"The sun rises."},
	},
	{
		name: "error", why: "an answer like others (design R11)",
		reply: []fakeprovider.Reply{fakeprovider.Error(400, "", "that is wrong")},
		ask:   question{text: "sunrise"}, says: []string{"that is wrong"}, fails: true,
	},
}

// heard returns audio that is long enough for its own file in the store.
func heard(text string) io.Reader {
	return openai.File(bytes.NewReader(append([]byte("ID3\xff"), strings.Repeat(text, 200)...)), text+".mp3", "audio/mpeg")
}

// streamed reads a stream of an SDK made by Stainless. text returns the text of an event.
func streamed[T any](stream interface {
	Next() bool
	Current() T
	Err() error
	Close() error
}, text func(T) string) (*answer, error) {
	defer stream.Close()
	a := &answer{}
	var events []T
	for stream.Next() {
		events = append(events, stream.Current())
		a.text += text(stream.Current())
	}
	a.value = events
	return a, stream.Err()
}

var openAITranscriptions = sdk{
	name: "openai-go transcriptions", api: "openai.transcriptions", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(option.WithHTTPClient(tf.Client()))
		return func(ctx context.Context, q question) (*answer, error) {
			params := openai.AudioTranscriptionNewParams{
				File: heard(q.text), Model: "whisper-1", Temperature: openai.Float(0), Prompt: openai.String("It is early."),
				ResponseFormat: "verbose_json", TimestampGranularities: []string{"word", "segment"},
			}
			if !q.stream {
				got, err := client.Audio.Transcriptions.New(ctx, params)
				if err != nil {
					return nil, err
				}
				return &answer{text: got.Text, value: got}, nil
			}
			params.TimestampGranularities, params.ResponseFormat = nil, "diarized_json"
			return streamed(client.Audio.Transcriptions.NewStreaming(ctx, params),
				func(e openai.TranscriptionStreamEventUnion) string { return e.Delta })
		}, nil
	},
	lacks:     ids,
	scenarios: mediaScenarios,
}

// goOpenAITranscriptions requests subtitles, which are not JSON.
var goOpenAITranscriptions = sdk{
	name: "go-openai translations", api: "openai.transcriptions", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		config := gopenai.DefaultConfig(os.Getenv("OPENAI_API_KEY"))
		config.HTTPClient = tf.Client()
		client := gopenai.NewClientWithConfig(config)
		return func(ctx context.Context, q question) (*answer, error) {
			got, err := client.CreateTranslation(ctx, gopenai.AudioRequest{
				Model: gopenai.Whisper1, FilePath: q.text + ".mp3", Reader: heard(q.text), Format: gopenai.AudioResponseFormatSRT,
			})
			if err != nil {
				return nil, err
			}
			return &answer{text: got.Text, value: got.Text}, nil
		}, nil
	},
	lacks:            ids | streams,
	scenarios:        mediaScenarios,
	nondeterministic: "go-openai sends no temperature of 0",
}

var openAISpeech = sdk{
	name: "openai-go speech", api: "openai.speech", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(option.WithHTTPClient(tf.Client()))
		return func(ctx context.Context, q question) (*answer, error) {
			params := openai.AudioSpeechNewParams{Model: "gpt-4o-mini-tts", Input: q.text, Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")}}
			if q.stream {
				params.StreamFormat = "sse"
			}
			got, err := client.Audio.Speech.New(ctx, params)
			if err != nil {
				return nil, err
			}
			defer got.Body.Close()
			sound, err := io.ReadAll(got.Body)
			return &answer{text: got.Header.Get("Content-Type") + " " + string(sound[:min(len(sound), 40)]), value: sound}, err
		}, nil
	},
	lacks: ids,
	scenarios: []scenario{
		{
			name: "whole", why: "the answer is audio",
			reply: []fakeprovider.Reply{{}}, ask: question{text: "sunrise"}, says: []string{"audio/wav RIFF"},
		},
		{
			name: "streamed", why: "events have pieces of it", needs: streams,
			reply: []fakeprovider.Reply{{}}, ask: question{text: "sunrise", stream: true}, says: []string{"speech.audio.delta"},
		},
		mediaScenarios[2],
	},
}

// imageScenarios are scenarios of image APIs whose events are of this kind.
func imageScenarios(kind string) []scenario {
	return []scenario{mediaScenarios[0], {
		name: "streamed", why: "events show it while it is made", needs: streams,
		reply: []fakeprovider.Reply{{}}, ask: question{text: "sunrise", stream: true},
		says: []string{kind + ".partial_image " + kind + ".completed"},
	}, mediaScenarios[2]}
}

var openAIImages = sdk{
	name: "openai-go images", api: "openai.images", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(option.WithHTTPClient(tf.Client()))
		return func(ctx context.Context, q question) (*answer, error) {
			params := openai.ImageGenerateParams{Model: "gpt-image-1", Prompt: q.text, N: openai.Int(2)}
			if !q.stream {
				got, err := client.Images.Generate(ctx, params)
				if err != nil {
					return nil, err
				}
				return &answer{text: fmt.Sprint(len(got.Data), " ", got.Data[1].RevisedPrompt), value: got}, nil
			}
			params.N, params.PartialImages = param.Opt[int64]{}, openai.Int(1)
			return streamed(client.Images.GenerateStreaming(ctx, params),
				func(e openai.ImageGenStreamEventUnion) string { return e.Type + " " })
		}, nil
	},
	lacks: ids, scenarios: imageScenarios("image_generation"),
}

var openAIImageEdits = sdk{
	name: "openai-go image edits", api: "openai.images", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(option.WithHTTPClient(tf.Client()))
		return func(ctx context.Context, q question) (*answer, error) {
			picture := func(name string) io.Reader {
				return openai.File(strings.NewReader("\x89PNG"+strings.Repeat(name, 200)), name+".png", "image/png")
			}
			params := openai.ImageEditParams{
				Model: "gpt-image-1", Prompt: q.text, Mask: picture("mask"),
				Image: openai.ImageEditParamsImageUnion{OfFileArray: []io.Reader{picture("one"), picture("two")}},
			}
			if !q.stream {
				got, err := client.Images.Edit(ctx, params)
				if err != nil {
					return nil, err
				}
				return &answer{text: got.Data[0].RevisedPrompt, value: got}, nil
			}
			return streamed(client.Images.EditStreaming(ctx, params),
				func(e openai.ImageEditStreamEventUnion) string { return e.Type + " " })
		}, nil
	},
	lacks: ids, scenarios: imageScenarios("image_edit"),
}
