package recorder

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestSameBytes records the cases of every API, and holds what the stores hold, byte for byte: another version of Go, whose
// libraries word errors and compress in another way, makes the same ones.
func TestSameBytes(t *testing.T) {
	dirs, err := filepath.Glob("../provider/testdata/*.*")
	require.NoError(t, err)
	known, err := os.ReadFile("testdata/same_bytes.golden")
	require.NoError(t, err)
	updating := os.Getenv("GOLDIE_UPDATE") != ""
	var sums strings.Builder
	stored := 0
	for _, dir := range dirs {
		if !updating && !strings.Contains(string(known), filepath.Base(dir)+" ") {
			continue // an API that is new; GOLDIE_UPDATE=1 takes it in
		}
		s := newScene(t)
		for i, c := range casesOf(t, dir) {
			if s.storesCase(c, i) {
				stored++
			}
		}
		fmt.Fprintf(&sums, "%-32s %s\n", filepath.Base(dir), sumOf(t, s.dir))
	}
	require.Greater(t, stored, 200)
	golden := goldie.New(t)
	if updating {
		require.NoError(t, golden.Update(t, "same_bytes", []byte(sums.String())))
	}
	golden.Assert(t, "same_bytes", []byte(sums.String()))
}

// storesCase records the i-th case of an API, and reports whether it could be.
func (s *scene) storesCase(c *storedCase, i int) bool {
	failures, _ := s.run(Update, func(r *Recorder) {
		resp, err := (&http.Client{Transport: r}).Post(c.url, "application/json", strings.NewReader(c.request))
		if err != nil {
			return // no version records it
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}, func(o *Options) {
		o.Upstream, o.Allowed, o.Test = c, CutStreams|RetryableErrors, fmt.Sprintf("Test%d", i)
	})
	return len(failures) == 0
}

// TestFormer brings documents of version 1.0.0 over, one of each API as that version wrote them, and holds them to be what
// this one records of the same answers, byte for byte.
func TestFormer(t *testing.T) {
	former, err := txtar.ParseFile("testdata/former.txtar")
	require.NoError(t, err)
	require.Greater(t, len(former.Files), 40)
	for _, file := range former.Files {
		api, at, _ := strings.Cut(file.Name, "/")
		t.Run(api, func(t *testing.T) {
			s := newScene(t)
			for i, c := range casesOf(t, "../provider/testdata/"+api) {
				if s.storesCase(c, i) {
					break
				}
			}
			s.dropIDs()
			want, was := sumOf(t, s.dir), s.makeFormer(at, file.Data)

			in, err := store.Open(s.dir)
			require.NoError(t, err)
			_, err = in.Load(strings.TrimSuffix(filepath.Base(was), ".json"), filepath.Base(filepath.Dir(was)))
			require.ErrorIs(t, err, snapshot.ErrVersion)
			doc, err := in.ParseFile(strings.TrimSuffix(filepath.Base(was), ".json"), filepath.Base(filepath.Dir(was)))
			require.NoError(t, err)
			put, err := Renewed(doc)
			require.NoError(t, err)
			require.NoError(t, in.Commit(store.Change{Put: []store.Put{put}, Remove: []string{doc.File()}}))
			require.Equal(t, want, sumOf(t, s.dir))
			result, err := audit.Verify(in, Proven)
			require.NoError(t, err)
			require.Empty(t, result.Findings)
		})
	}
}

// dropIDs takes from the records the ids that requests name, which version 1.0.0 did not keep.
func (s *scene) dropIDs() {
	st, err := store.Open(s.dir)
	require.NoError(s.t, err)
	files, err := st.List()
	require.NoError(s.t, err)
	require.Len(s.t, files, 1)
	provider, name, _ := store.ParseDocumentFile(files[0])
	doc, err := st.Load(name, provider)
	require.NoError(s.t, err)
	put := store.PutOf(name, doc.Records())
	for i := range put.Document.Snapshots {
		put.Document.Snapshots[i].Source.IDs = nil
	}
	require.NoError(s.t, st.Commit(store.Change{Put: []store.Put{put}}))
}

// makeFormer puts the document of an earlier version in the place of the store's own, and returns its path.
func (s *scene) makeFormer(at string, document []byte) string {
	now, err := filepath.Glob(filepath.Join(s.dir, "*", "*.json"))
	require.NoError(s.t, err)
	require.Len(s.t, now, 1)
	was := filepath.Join(s.dir, filepath.FromSlash(at))
	require.NoError(s.t, os.Remove(now[0]))
	require.NoError(s.t, os.Rename(strings.TrimSuffix(now[0], ".json"), strings.TrimSuffix(was, ".json")))
	require.NoError(s.t, os.WriteFile(was, document, 0o666))
	return was
}

// TestFormerIsUpdated: a replay refuses a document of an earlier version and says how to bring it over, and an update does
// that without a call.
func TestFormerIsUpdated(t *testing.T) {
	former, err := txtar.ParseFile("testdata/former.txtar")
	require.NoError(t, err)
	at := slices.IndexFunc(former.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "openai.embeddings/") })
	s := newScene(t)
	asked := casesOf(t, "../provider/testdata/openai.embeddings")[0]
	require.True(t, s.storesCase(asked, 0))
	want := sumOf(t, s.dir)
	s.makeFormer(strings.TrimPrefix(former.Files[at].Name, "openai.embeddings/"), former.Files[at].Data)
	again := func(mode Mode) []*Failure {
		told, _ := s.run(mode, func(r *Recorder) {
			resp, err := (&http.Client{Transport: r}).Post(asked.url, "application/json", strings.NewReader(asked.request))
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}, func(o *Options) { o.Test = "Test0" })
		return told
	}
	refused := again(Replay)
	require.NotEmpty(t, refused)
	require.Contains(t, refused[0].Text, "Snapshot version 1.0.0 is no longer supported")
	require.Contains(t, refused[0].Text, "traceforge snapshot migrate --from 1.0.0 --to 1.1.0 --write, or go test -update")
	require.Empty(t, again(Update))
	require.Empty(t, s.provider.Calls(), "no call is made")
	require.Equal(t, want, sumOf(t, s.dir))
	require.Empty(t, again(Replay))
}

// A storedCase is a call and its answer, as an archive of that one.
type storedCase struct {
	url, request string
	status       int
	contentType  string
	body         string
}

func (c *storedCase) RoundTrip(req *http.Request) (*http.Response, error) {
	from := Provenance{From: "imported from a case", Time: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Latency: 7 * time.Millisecond}
	return &http.Response{StatusCode: c.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: from.In(http.Header{"Content-Type": {c.contentType}}), Body: io.NopCloser(strings.NewReader(c.body)), ContentLength: int64(len(c.body))}, nil
}

func (c *storedCase) MakesNoCalls() {}

// casesOf returns a case for each answer in dir, with the request that stands before it.
func casesOf(t *testing.T, dir string) (all []*storedCase) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	require.NoError(t, err)
	home, err := os.ReadFile(filepath.Join(dir, "home.url"))
	require.NoError(t, err)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		url, request := strings.TrimSpace(string(home)), `{}`
		for _, section := range archive.Files {
			switch words := strings.Fields(section.Name); words[0] {
			case "url":
				url = strings.TrimSpace(string(section.Data))
			case "request":
				request = string(section.Data)
			case "answer":
				status, err := strconv.Atoi(words[1])
				require.NoError(t, err, file)
				all = append(all, &storedCase{url, request, status, strings.Join(words[2:], " "), string(section.Data)})
			}
		}
	}
	return all
}

// sumOf returns the hash of the names and contents of all files in a store.
func sumOf(t *testing.T, dir string) string {
	hash := sha256.New()
	require.NoError(t, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "manifest.json" || strings.Contains(file, ".pending") { // these have the time at which they were written
			return err
		}
		data, err := os.ReadFile(file)
		fmt.Fprintf(hash, "%s %d\n%s", filepath.ToSlash(strings.TrimPrefix(file, dir)), len(data), data)
		return err
	}))
	return fmt.Sprintf("%x", hash.Sum(nil))
}
