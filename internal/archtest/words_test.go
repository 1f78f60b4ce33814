package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plainWords are what texts for people do not say, each with what they say instead. Short sentences in their usual order are
// read by people whose first language is another.
var plainWords = []struct {
	name    string
	is      *regexp.Regexp
	instead string
}{
	{"but for", regexp.MustCompile(`(?i)\bbut for\b`), "except for"},
	{"but that", regexp.MustCompile(`(?i)\bbut that (they|it|the)\b`), "except that"},
	{"save for", regexp.MustCompile(`(?i)\bsave (for|that)\b`), "except"},
	{"anew", regexp.MustCompile(`(?i)\banew\b`), "again"},
	{"mends", regexp.MustCompile(`(?i)\bmend(s|ed|ing)?\b`), "repairs, fixes"},
	{"is none of", regexp.MustCompile(`(?i)\b(is|are|was|were) none of (its|the|a|an|my|our|those|these)\b`), "is not one of"},
	{"nor", regexp.MustCompile(`(?i)\bnor (is|are|do|does|did|can|may|was|were|has|have|of|to)\b`), "a sentence of its own: it does not … either"},
	{"so is", regexp.MustCompile(`(?i)[,;:] (and )?so (is|are|do|does|has|have|can|was|were) [a-z-]+`), "… too"},
	{"only so", regexp.MustCompile(`(?i)\bonly so\b`), "only in this way"},
	{"where none is", regexp.MustCompile(`(?i)\b(where|if) none is\b`), "by default; without one"},
	{"that there is not", regexp.MustCompile(`(?i)\bthat there (is|are) not\b`), "that does not exist"},
	{"is no more", regexp.MustCompile(`(?i)\b(is|are) no more\b( than)?`), "does not exist any more"},
	{"what is of", regexp.MustCompile(`(?i)\bwhat is of\b`), "what belongs to"},
	{"all of whose", regexp.MustCompile(`(?i)\b(all|some|none|most) of whose\b`), "a sentence of its own"},
	{"whose … whose", regexp.MustCompile(`(?i)\bwhose\b[^.;:|]*\bwhose\b`), "two sentences"},
	{"thereof, lest, hereby", regexp.MustCompile(`(?i)\b(thereof|whereof|hereby|hitherto|lest|albeit)\b`), "something that people say"},
}

// allowed are uses of such words that mean something else: "no more than 40" is a number.
var allowed = regexp.MustCompile(`(?i)^(is|are) no more than$`)

// A saying is a place that says one of plainWords.
type saying struct{ where, words, instead string }

// sayings finds plainWords in a text, also where a line break divides them.
func sayings(where, text string) []saying {
	flat := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "code") // what code says is its own affair
	flat = regexp.MustCompile(`([^\n])\n[ \t]*([^\s|#*-])`).ReplaceAllString(flat, "$1 $2")
	var found []saying
	for _, word := range plainWords {
		for _, at := range word.is.FindAllStringIndex(flat, -1) {
			if words := flat[at[0]:at[1]]; !allowed.MatchString(words) {
				around := flat[max(0, at[0]-30):min(len(flat), at[1]+30)]
				found = append(found, saying{where, strings.ToValidUTF8(strings.ReplaceAll(around, "\n", " "), ""), word.instead})
			}
		}
	}
	return found
}

// TestPlainWords holds that texts for people are in plain English: documents, and the help of the command. docs/format.md and docs/specs speak the
// language of the specifications.
func TestPlainWords(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.md", ".github/*.md", ".github/*/*.md", "docs/*.md", "adapters/*/*.md", "examples/*.md", "cmd/traceforge/*.md", "llms.txt", "cmd/traceforge/help/*.txt"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		return filepath.Base(file) == "format.md"
	})
	require.Greater(t, len(files), 30)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		refuseWords(t, file, string(regexp.MustCompile("(?ms)^ *```.*?^ *```").ReplaceAll(text, nil)))
	}
}

// participle matches the name of a type that says what happened to a thing, and not what the thing is.
var participle = regexp.MustCompile(`^([A-Z]?[a-z]*[^e]ed|[Ss]aid|[Hh]eld|[Mm]ade|[Tt]old|[Ff]ound|[Tt]aken|[Ss]pent)$`)

// participles are the types with such a name, each with the reason.
var participles = map[string]string{
	"Answered":    "a call whose answer changed too, for which there is no word",
	"Constrained": "Genkit's word",
	"Recorded":    "of the public API of package contract",
	"Spent":       "what calls used before and after, for which there is no word",
}

// productFiles returns the Go files of all modules, without tests.
func productFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && e.Name() != ".."):
			return fs.SkipDir
		case strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go"):
			files = append(files, file)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(files), 300)
	return files
}

// TestPlainWordsOfCode holds it of comments and messages of product code.
func TestPlainWordsOfCode(t *testing.T) {
	for _, file := range productFiles(t) {
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		line := func(at token.Pos) string { return fmt.Sprintf("%s:%d", file, set.Position(at).Line) }
		for _, group := range syntax.Comments {
			refuseWords(t, line(group.Pos()), group.Text())
			words := len(strings.Fields(firstSentence(group.Text())))
			assert.LessOrEqual(t, words, 25, "%s: the first sentence is long: %.60s", line(group.Pos()), group.Text())
			assert.False(t, asksFirst(group.Text()), "%s: begin with what the thing does: %.60s", line(group.Pos()), group.Text())
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				refuseWords(t, line(lit.Pos()), text)
			}
			if spec, ok := n.(*ast.TypeSpec); ok && participle.MatchString(spec.Name.Name) {
				assert.Contains(t, participles, spec.Name.Name, "%s: a type is a noun", line(spec.Pos()))
			}
			return true
		})
	}
}

// firstSentence returns the first sentence of a comment that documents something; "" if it is another text.
func firstSentence(comment string) string {
	paragraph, _, _ := strings.Cut(comment, "\n\n")
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(paragraph), " "), ". ")
	return sentence
}

// TestLinesAreShort holds that lines of product code have at most 120 characters, a tab counted as one. Long texts are not
// divided, so that they can be searched for, and examples of what programs print are as they are.
func TestLinesAreShort(t *testing.T) {
	const most, longText = 120, 50 // characters
	for _, file := range productFiles(t) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, file, data, parser.SkipObjectResolution)
		require.NoError(t, err)
		mayBeLong := map[int]bool{} // by number
		ast.Inspect(syntax, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && len(lit.Value) >= longText {
				for line := set.Position(lit.Pos()).Line; line <= set.Position(lit.End()).Line; line++ {
					mayBeLong[line] = true
				}
			}
			return true
		})
		for i, line := range strings.Split(string(data), "\n") {
			isExample := strings.HasPrefix(line, "//\t") || strings.Contains(file, "/examples/") // whose records have the lines of calls
			isShort := utf8.RuneCountInString(line) <= most || mayBeLong[i+1] || isExample
			assert.True(t, isShort, "%s:%d: %s", file, i+1, line)
		}
	}
}

// asksFirst reports whether a comment begins with a word behind which its reader waits for the verb. The functions that are
// named Of are none of them.
func asksFirst(comment string) bool {
	return regexp.MustCompile(`^(What|Of|One that|Those)\b`).MatchString(comment) && !strings.HasPrefix(comment, "Of returns ")
}

// TestCommentsThatAskFirst shows which beginnings are refused.
func TestCommentsThatAskFirst(t *testing.T) {
	for _, text := range []string{"What a store holds.", "Of a store that is not there it is empty.", "One that is not there is empty.", "Those of a store."} {
		assert.True(t, asksFirst(text), text)
	}
	for _, text := range []string{"Of returns an amount.", "One pass counts all.", "The files that a store holds."} {
		assert.False(t, asksFirst(text), text)
	}
}

// refuseWords fails for each of plainWords in a text.
func refuseWords(t *testing.T, where, text string) {
	for _, s := range sayings(where, text) {
		assert.Fail(t, fmt.Sprintf("%s: …%s…", s.where, s.words), "say: %s", s.instead)
	}
}

// TestPlainWordsAreFound shows what the rules find, and what they leave alone.
func TestPlainWordsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		"The same but for\nthe line.":                              1,
		"Files are read, and so are links.":                        1,
		"It is not a, nor is it b.":                                1,
		"It is neither a nor b.":                                   0,
		"It takes no more than 40.":                                0,
		"A test whose call drifts, and whose records wait, fails.": 1,
		"A test whose call drifts. One whose records wait.":        0,
		"It is so fast.":                                           0,
	} {
		assert.Len(t, sayings("x", text), want, text)
	}
}

// TestPagesBeginWithTheirQuestion holds that a page of docs says first which question it answers, as docs/README.md lists it.
func TestPagesBeginWithTheirQuestion(t *testing.T) {
	list, err := os.ReadFile("../../docs/README.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| \[([a-z-]+\.md)\]\([a-z-]+\.md\) \| (.*?) \|$`).FindAllStringSubmatch(string(list), -1)
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.Len(t, rows, len(pages)-1)
	for _, row := range rows {
		page, err := os.ReadFile("../../docs/" + row[1])
		require.NoError(t, err)
		question := regexp.MustCompile(`\A# .*\n\n\*([^*]*\?)\*`).FindStringSubmatch(string(page))
		require.NotNil(t, question, row[1])
		assert.Equal(t, question[1], row[2])
	}
}

// TestGlossary holds that each word of docs/glossary.md is defined once, in the order that its page has.
func TestGlossary(t *testing.T) {
	page, err := os.ReadFile("../../docs/glossary.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| \*\*([^*]+)\*\* \| (.*?) \|(.*?)\|$`).FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(rows), 30)
	require.Len(t, rows, strings.Count(string(page), "\n| **"), "each row has three columns")
	defined := map[string]bool{}
	for _, row := range rows {
		for word := range strings.SplitSeq(row[1], ", ") {
			assert.False(t, defined[word], "%s is defined twice", word)
			defined[word] = true
		}
		assert.NotEmpty(t, strings.TrimSpace(row[2]), "%s means something", row[1])
	}
	for _, word := range []string{"receipt", "record", "key", "session", "document", "snapshot", "golden", "call", "answer", "seal", "drift",
		"stale", "pending", "lane"} {
		assert.True(t, defined[word], "%s is in the glossary", word)
	}
}

// TestDocumentsLead holds that each link between documents leads to a file and a heading that are there, and that the index has each page.
func TestDocumentsLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md", "adapters/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	index, err := os.ReadFile("../../docs/README.md")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if name := filepath.Base(file); filepath.Base(filepath.Dir(file)) == "docs" && name != "README.md" {
			assert.Contains(t, string(index), "("+name+")", "docs/README.md has no line for it")
		}
		prose := regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]*`").ReplaceAll(text, []byte("code"))
		for _, m := range link.FindAllStringSubmatch(string(prose), -1) {
			target, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := file
			if target != "" {
				to = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(to); !assert.NoError(t, err, "a link of %s", file) || heading == "" {
				continue
			}
			there, err := os.ReadFile(to)
			require.NoError(t, err)
			assert.True(t, slices.Contains(headings(string(there)), heading), "%s links to %s, which has no heading #%s", file, to, heading)
		}
	}
}

// headings returns the anchors of a document: those that it sets, and those that GitHub makes of its headings.
func headings(text string) []string {
	var all []string
	for _, m := range anchor.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}
