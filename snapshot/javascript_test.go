package snapshot_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// awkward is JSON that JavaScript and RFC 8785 could see differently: names that are array indexes,
// the largest of them and its neighbours, names that sort differently in UTF-8 and UTF-16, numbers,
// and characters that some writers escape.
const awkward = `{
	"logit_bias": {"50256": -100, "9": 1, "10": 2, "-1": 3, "01": 4, "a": {"2": 0, "1": 0}},
	"indexes": {"4294967295": 0, "4294967294": 0, "4294967296": 0, "0": 0, "!": 0, "1e3": 0, "1.5": 0},
	"names": {"\u20ac": 0, "\r": 0, "\ud83d\ude00": 0, "\ufb33": 0, "": 0, "__proto__": 1, "constructor": 2, "\u0080": 0, "~/": 0},
	"numbers": [0, -0, 1.0, 1e21, 1e-7, 0.1, 123456789012345680000, 5e-324, 1.7976931348623157e308, 9007199254740993, 1e400],
	"literal": {"$number": "9007199254740993"},
	"text": "<>&'\"\\\/\b\f\n\r\t\u0000\u001f\u007f\u2028\u2029\ufeff \ud83d\ude00 é \uffff",
	"nested": [[], {}, [[{"7": [{"2": 1, "10": 2, "1": 3}]}]], null, true, false]
}`

// TestJavaScript runs SF's own calculation of the hashes on our files (design R2).
func TestJavaScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, and with it SF's own calculation of the hashes cannot run")
	}
	store, dir := newStore(t)
	for n := 1; n <= 3; n++ {
		snap := record("TestJavaScript", n)
		snap.Request.ProviderOptions = map[string]json.RawMessage{"awkward": json.RawMessage(awkward), "5": json.RawMessage("1"), "10": json.RawMessage(`2`)}
		snap.Request.Tools = []json.RawMessage{json.RawMessage(awkward)}
		snap.Response.Content = "<&>\u2028\x00\x7f\U0001F600"
		require.NoError(t, store.Put("openai", snap))
	}
	for name, file := range vectors(t) {
		for _, v := range file.Cases {
			if len(v.Violations) == 0 {
				doc, err := snapshot.Parse(v.text())
				require.NoError(t, err)
				writeFile(t, encode(t, doc), dir, "vectors", v.Name+"-"+name)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	require.NoError(t, err)
	files = append(files, filepath.Join(dir, "manifest.json"))
	require.Greater(t, len(files), 20)

	var stderr bytes.Buffer
	cmd := exec.Command(node, append([]string{"testdata/hashes.js"}, files...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	require.Len(t, lines, len(files))
	for i, line := range lines {
		var got struct {
			Individual []*string
			Combined   string
			LaidOut    bool
		}
		require.NoError(t, json.Unmarshal(line, &got))
		var stated struct {
			Snapshots []struct{ Hash canon.Hash }
			Hash      canon.Hash
		}
		require.NoError(t, json.Unmarshal(readFile(t, files[i]), &stated))
		require.Equal(t, stated.Hash.Hex(), got.Combined, files[i])
		if filepath.Base(files[i]) == "manifest.json" {
			continue // its entries are no records, and one a line
		}
		require.True(t, got.LaidOut, files[i])
		for n, s := range stated.Snapshots {
			require.Equal(t, s.Hash.Hex(), *got.Individual[n], files[i])
		}
	}
}
