package audit

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestVerifyFiles(t *testing.T) {
	x, y := nameOf("TestX"), nameOf("TestY")
	for _, tt := range []struct {
		name, why string
		break_    func(t *testing.T, s *store.Store, dir string)
		files     []string
		want      []snapshot.Finding // messages are not compared
		documents int
	}{
		{"whole", "two files of one document", nil, []string{fileOf("TestX"), rawOf("TestX", 1)}, nil, 1},
		{"nothing", "the branch changed other files", nil, nil, nil, 0},
		{"of-another", "what the branch did not touch is not read", func(t *testing.T, s *store.Store, dir string) {
			writeFile(t, dir, rawOf("TestY", 1), "altered")
		}, []string{fileOf("TestX")}, nil, 1},
		{"altered", "the raw answer alone was touched", func(t *testing.T, s *store.Store, dir string) {
			writeFile(t, dir, rawOf("TestX", 1), "altered")
		}, []string{rawOf("TestX", 1)}, []snapshot.Finding{{File: rawOf("TestX", 1), Rule: snapshot.RuleRaw}}, 1},
		{"removed-answer", "the document names it", func(t *testing.T, s *store.Store, dir string) {
			removeFile(t, dir, rawOf("TestX", 1))
		}, []string{rawOf("TestX", 1)}, []snapshot.Finding{{File: fileOf("TestX"), Pointer: "/snapshots/0/response/raw_output_ref", Rule: snapshot.RuleRaw}}, 1},
		{"removed-document", "its answer is left", func(t *testing.T, s *store.Store, dir string) {
			removeFile(t, dir, fileOf("TestX"))
		}, []string{fileOf("TestX")}, []snapshot.Finding{{File: "openai/" + x, Rule: snapshot.RuleStray}}, 0},
		{"removed-all", "is no finding", func(t *testing.T, s *store.Store, dir string) {
			require.NoError(t, s.Commit(store.Change{Remove: []string{fileOf("TestX")}}))
		}, []string{fileOf("TestX"), rawOf("TestX", 1)}, nil, 0},
		{"added", "a file of nobody", func(t *testing.T, s *store.Store, dir string) {
			writeFile(t, dir, "README", "")
			writeFile(t, dir, "openai/"+x+"/README", "")
		}, []string{"README", "openai/" + x + "/README"}, []snapshot.Finding{
			{File: "README", Rule: snapshot.RuleStray}, {File: "openai/" + x + "/README", Rule: snapshot.RuleStray}}, 0},
		{"pending", "what waits is no part of the store, also where git knows it", func(t *testing.T, s *store.Store, dir string) {
			writeFile(t, dir, ".pending/"+fileOf("TestX"), "{}")
		}, []string{".pending/" + fileOf("TestX"), ".pending/.gitattributes"}, nil, 0},
		{"second-provider", "the other document is the branch's", func(t *testing.T, s *store.Store, dir string) {
			data, err := os.ReadFile(s.Path(fileOf("TestX")))
			require.NoError(t, err)
			writeFile(t, dir, "other/"+x+".json", string(data))
		}, []string{"other/" + x + ".json"}, []snapshot.Finding{
			{File: "other/" + x + ".json", Pointer: "/snapshots/0/response/raw_output_ref", Rule: snapshot.RuleRaw},
			{File: "other/" + x + ".json", Rule: snapshot.RuleDuplicate}}, 2},
		{"linked", "a link leads anywhere", func(t *testing.T, s *store.Store, dir string) {
			require.NoError(t, os.Rename(s.Path("openai/"+x), s.Path("openai/"+y+"/x")))
			require.NoError(t, os.Symlink(y+"/x", s.Path("openai/"+x)))
		}, []string{"openai/" + x, fileOf("TestX")}, []snapshot.Finding{
			{File: "openai/" + x, Rule: snapshot.RuleStray}, {File: fileOf("TestX"), Pointer: "/snapshots/0/response/raw_output_ref", Rule: snapshot.RuleRaw}}, 1},
		{"submodule", "what it holds is not in the repository", func(t *testing.T, s *store.Store, dir string) {
			writeFile(t, dir, "other/.git", "gitdir: ../.git/modules/other\n")
		}, []string{"other", "empty", "openai/" + y + "/"}, []snapshot.Finding{
			{File: "other", Rule: snapshot.RuleStray}, {File: "openai/" + y, Rule: snapshot.RuleStray}}, 0},
		{"cut-short", "a commit is looked for always", func(t *testing.T, s *store.Store, dir string) {
			writeFile(t, dir, store.JournalName, "traceforge commit\n")
		}, nil, []snapshot.Finding{{File: store.JournalName, Rule: snapshot.RulePending}}, 0},
		{"attributes", "they are of all files", func(t *testing.T, s *store.Store, dir string) {
			writeFile(t, dir, store.AttributesName, "* text\n")
		}, nil, []snapshot.Finding{{File: store.AttributesName, Rule: snapshot.RuleAttributes}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, putOf("TestX", call{1, "x", "x"}), putOf("TestY", call{1, "y", "y"}))
			if tt.break_ != nil {
				tt.break_(t, s, dir)
			}
			result, err := VerifyFiles(s, tt.files)
			require.NoError(t, err)
			for i := range result.Findings {
				result.Findings[i].Message = ""
			}
			require.ElementsMatch(t, tt.want, result.Findings, tt.why)
			require.Equal(t, tt.documents, result.Documents, tt.why)
		})
	}
}
