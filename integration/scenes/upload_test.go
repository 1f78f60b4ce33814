package scenes_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	gopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// transcribes returns a program that writes a recording into dir, like tests do with t.TempDir, and has it transcribed.
// go-openai sends the whole path as the name of the file.
func transcribes(dir string) program {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		file := filepath.Join(dir, "speech.wav")
		if err := os.WriteFile(file, []byte("RIFF....WAVE"), 0o600); err != nil {
			tb.Fatalf("%v", err)
		}
		config := gopenai.DefaultConfig("unused")
		config.HTTPClient = tf.Client()
		request := gopenai.AudioRequest{Model: "whisper-1", FilePath: file}
		if _, err := gopenai.NewClientWithConfig(config).CreateTranscription(context.Background(), request); err != nil {
			tb.Errorf("%v", err)
		}
	}
}

// TestUploadFromATemporaryDirectory (K15) uploads a file whose name differs in each run. The failure shows the name,
// and the rule that stores it as a placeholder. With that rule one recording replays.
func TestUploadFromATemporaryDirectory(t *testing.T) {
	why := traceforgetest.Nondeterministic("go-openai sends no temperature of 0")
	r := newRepo(t, fakeprovider.Echo())
	r.options = []traceforgetest.Option{why}
	first, second := tempDir(t), tempDir(t)
	r.record("TestMergeOfOneTest", transcribes(first))
	tb := r.fails("TestMergeOfOneTest", transcribes(second))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), filepath.ToSlash(filepath.Join(second, "speech.wav")), "what changed is the name of the file")
	require.Contains(t, tb.Logged(), "traceforgetest.Scrub(traceforgetest.Volatile())")
	require.NotContains(t, tb.Logged(), "changed: parameters")

	r = newRepo(t, fakeprovider.Echo())
	r.options = []traceforgetest.Option{why, traceforgetest.Scrub(traceforgetest.Volatile())}
	r.record("TestMergeOfOneTest", transcribes(first))
	require.NotContains(t, r.document(), filepath.ToSlash(first))
	r.replay("TestMergeOfOneTest", transcribes(second))
}

// tempDir returns a directory with a new name, like t.TempDir.
func tempDir(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "TestUpload")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(parent)) })
	dir := filepath.Join(parent, "001")
	require.NoError(t, os.Mkdir(dir, 0o700))
	return dir
}
