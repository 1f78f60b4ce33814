package snapshot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// awkward is JSON that JavaScript and RFC 8785 may read differently: names that are array indexes, the largest of them
// and its neighbours, names that sort differently in UTF-8 and UTF-16, numbers, texts in pieces, and characters that
// some writers escape.
const awkward = `{
	"logit_bias": {"50256": -100, "9": 1, "10": 2, "-1": 3, "01": 4, "a": {"2": 0, "1": 0}},
	"indexes": {"4294967295": 0, "4294967294": 0, "4294967296": 0, "0": 0, "!": 0, "1e3": 0, "1.5": 0},
	"names": {"\u20ac": 0, "\r": 0, "\ud83d\ude00": 0, "\ufb33": 0, "": 0, "__proto__": 1, "constructor": 2, "\u0080": 0, "~/": 0},
	"numbers": [0, -0, 1.0, 1e21, 1e-7, 0.1, 123456789012345680000, 5e-324, 1.7976931348623157e308, 9007199254740993, 1e400],
	"literal": {"$number": "9007199254740993"}, "pieces": {"$text": ["a\n", "b"]}, "lines": "a\nb\n\nc",
	"text": "<>&'\"\\\/\b\f\n\r\t\u0000\u001f\u007f\u2028\u2029\ufeff \ud83d\ude00 é \uffff",
	"nested": [[], {}, [[{"7": [{"2": 1, "10": 2, "1": 3}]}]], null, true, false]
}`

// hashes runs SF's own hash calculation on files.
func hashes(t *testing.T, files []string) (all []calculated) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, and with it SF's own calculation of the hashes cannot run")
	}
	var stderr bytes.Buffer
	cmd := exec.Command(node, append([]string{"testdata/hashes.js"}, files...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	for line := range bytes.Lines(out) {
		var c calculated
		require.NoError(t, json.Unmarshal(line, &c))
		all = append(all, c)
	}
	require.Len(t, all, len(files))
	return all
}

// calculated holds the results of SF's JavaScript for a file.
type calculated struct {
	Individual []*string
	Combined   string
	LaidOut    bool // the file has the layout of JSON.stringify
}

// TestJavaScript compares our hashes with SF's own calculation on our files, and on their literal form (design R2).
func TestJavaScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	write := func(data []byte) {
		file := filepath.Join(dir, fmt.Sprint(len(files), ".json"))
		require.NoError(t, os.WriteFile(file, data, 0o666))
		files = append(files, file)
	}
	records, _ := agent(prompt("Never guess."), 3)
	records[0].Request.Options = modelio.Object{"awkward": json.RawMessage(awkward), "5": json.RawMessage("1"), "10": json.RawMessage(`2`)}
	records[1].Request.Tools = append(records[1].Request.Tools, modelio.ToolDefinition{Name: "x", InputSchema: json.RawMessage(awkward)})
	records[2].Response = answered(modelio.TextPart("<&>\u2028\x00\x7f\n\U0001F600"))
	doc := document(t, records...)
	write(encode(t, doc))
	for i := range doc.Snapshots {
		sf, err := doc.Snapshots[i].SF()
		require.NoError(t, err)
		write(sf)
	}
	for _, file := range vectors(t) {
		for _, v := range file.Cases {
			if len(v.Violations) == 0 {
				doc := parse(t, v.text())
				require.NoError(t, doc.Seal())
				write(encode(t, doc))
			}
		}
	}
	for i, got := range hashes(t, files) {
		data, err := os.ReadFile(files[i])
		require.NoError(t, err)
		stated := parse(t, data)
		require.Equal(t, stated.Hash.Hex(), got.Combined, "%s", data)
		require.True(t, got.LaidOut, "%s", data)
		for n, s := range stated.Snapshots {
			require.Equal(t, s.Hash.Hex(), *got.Individual[n], "%s", data)
		}
	}
}

// TestSFExampleComesBack checks that SF's own example, sealed by SF's JavaScript, stays equal in the literal form,
// including its hashes.
func TestSFExampleComesBack(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t)["sf.example.json"].Cases {
		if v.Name != "example" {
			continue
		}
		literal, err := parse(t, v.text()).SF()
		require.NoError(t, err)
		want := strings.NewReplacer(": 0.0,", ": 0,", ": 1.0,", ": 1,").Replace(string(v.text())) // numbers in the spelling of JSON.stringify
		require.Equal(t, strings.TrimSpace(want), strings.TrimSpace(string(literal)))
		return
	}
	require.Fail(t, "there is no such vector")
}

// TestSF checks that the literal form has the whole request and the content of the record.
func TestSF(t *testing.T) {
	t.Parallel()
	records, _ := agent(prompt("Never guess."), 3)
	doc := document(t, records...)
	last := &doc.Snapshots[3]
	text, err := last.SF()
	require.NoError(t, err)
	require.NotContains(t, string(text), "continues")
	require.NotContains(t, string(text), "$text")
	require.Contains(t, string(text), `careful assistant of a shop.\nRule 0`)
	literal := parse(t, text)
	require.Equal(t, last.ID, literal.Snapshots[0].ID)
	require.Equal(t, last.Source, literal.Snapshots[0].Source)
	require.Equal(t, cores(t, &snapshot.Document{Snapshots: []snapshot.Snapshot{*last}}), cores(t, literal))
	require.NotEqual(t, last.Hash, literal.Snapshots[0].Hash, "the seal is of another text")
}
