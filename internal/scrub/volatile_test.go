package scrub

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scrubbed returns a text as it is kept with the given rules.
func scrubbed(t testing.TB, text string, rules ...Rule) string {
	all, err := New(rules...)
	require.NoError(t, err)
	v := all.newValues(false)
	return edited(text, v.requestEdits(text))
}

func TestVolatile(t *testing.T) {
	t.Setenv("TMPDIR", "/scratch/tmp")
	t.Setenv("HOME", "/root")
	for _, c := range []struct{ name, reason, text, want string }{
		{"uuid", "any version, any case", "job 550e8400-e29b-11d4-a716-446655440000 and 0FA1C0DE-0000-4000-8000-000000000000.",
			"job {{uuid:1}} and {{uuid:2}}."},
		{"uuid-again", "the same value has the same placeholder", "550e8400-e29b-41d4-a716-446655440000=550e8400-e29b-41d4-a716-446655440000",
			"{{uuid:1}}={{uuid:1}}"},
		{"uuid-prefix", "ids are made with them", "run_550e8400-e29b-41d4-a716-446655440000", "run_{{uuid:1}}"},
		{"uuid-bare", "Python's hex; other hashes stay", "d78ad5cec7584370a4be68dd74ca3b77 d78ad5cec7583370a4be68dd74ca3b77", "{{uuid:1}} d78ad5cec7583370a4be68dd74ca3b77"},
		{"uuid-none", "too long, too short, no hexadecimal", "550e8400-e29b-41d4-a716-4466554400001 550e8400-e29b-41d4-a716 g50e8400-e29b-41d4-a716-446655440000",
			"550e8400-e29b-41d4-a716-4466554400001 550e8400-e29b-41d4-a716 g50e8400-e29b-41d4-a716-446655440000"},

		{"time", "RFC 3339 and ISO 8601", "at 2025-11-21T10:00:00Z, 2025-11-21T10:00:00.123456+02:00 or 2025-11-21 10:00.",
			"at {{time:1}}, {{time:2}} or {{time:3}}."},
		{"time-go", "time.Time's String", "2025-11-21 10:00:00.000000001 +0000 UTC m=+0.012345;", "{{time:1}};"},
		{"time-log", "package log", "2025/11/21 10:00:00 started", "{{time:1}} started"},
		{"time-http", "RFC 9110", "Date: Fri, 21 Nov 2025 10:00:00 GMT", "Date: {{time:1}}"},
		{"time-date", "the command date", "Sun Sep 28 09:58:00 UTC 2025 and Sun Sep  8 09:58:00 2025", "{{time:1}} and {{time:2}}"},
		{"time-none", "a day may be in any text, a clock too", "2025-11-21, 10:00, 12025-11-21T10:00, a:b", "2025-11-21, 10:00, 12025-11-21T10:00, a:b"},

		{"tmp", "t.TempDir", "open /tmp/TestAgent2035720248/001/in.txt and /tmp/TestAgent2035720248/001/out.txt",
			"open {{tmp:1}}/in.txt and {{tmp:1}}/out.txt"},
		{"tmp-python", "tempfile and pytest", "/tmp/tmpabcdefgh/x /tmp/pytest-of-me/pytest-12/test_a0/x", "{{tmp:1}}/x {{tmp:2}}/x"},
		{"tmp-roots", "any system's", "/var/tmp/x1 /private/tmp/x2 /private/var/tmp/x3", "{{tmp:1}} {{tmp:2}} {{tmp:3}}"},
		{"tmp-mac", "macOS", `"/var/folders/zz/zyx_n0000gn/T/TestX12/001" and /private/var/folders/zz/zyx_n0000gn/T/`,
			`"{{tmp:1}}" and {{tmp:2}}/`},
		{"tmp-windows", "Windows, also in JSON", `C:\Users\me\AppData\Local\Temp\TestX12\001\a C:\\Users\\me\\AppData\\Local\\Temp\\TestX12\\a`,
			`{{tmp:1}}\a {{tmp:2}}\\a`},
		{"tmp-windows-slashes", "as filepath.ToSlash and many programs write it", "C:/Users/me/AppData/Local/Temp/TestX12/001/a C://Users/me/AppData/Local/Temp",
			"{{tmp:1}}/a {{tmp:2}}"},
		{"tmp-own", "TMPDIR", "/scratch/tmp/x1/y", "{{tmp:1}}/y"},
		{"tmp-none", "a name that is always the same; no root", "/tmp/report.txt /srv/tmp/x1 https://example.com/tmp/x1", "/tmp/report.txt /srv/tmp/x1 https://example.com/tmp/x1"},

		{"home", "any user's", "/home/me/src, file:///Users/you/src, /root and /rooted", "{{home:1}}/src, file://{{home:2}}/src, {{home:3}} and /rooted"},
		{"home-bsd", "other systems", "/usr/home/me/src /var/home/me/src", "{{home:1}}/src {{home:2}}/src"},
		{"home-windows", "Windows", `C:\Users\me\src and C:/Users/me/src`, `{{home:1}}\src and {{home:2}}/src`},
		{"home-none", "no root", "/srv/home/me ./home/me", "/srv/home/me ./home/me"},

		{"port", "httptest's servers", "http://127.0.0.1:40123/v1 [::1]:50000 localhost:60999", "http://127.0.0.1:{{port:1}}/v1 [::1]:{{port:2}} localhost:{{port:3}}"},
		{"port-none", "a port that was chosen, another host", "localhost:8080 example.com:40123 127.0.0.1:401234 localhost/40123", "localhost:8080 example.com:40123 127.0.0.1:401234 localhost/40123"},

		{"overlap", "a directory named with a uuid is one value", "/tmp/550e8400-e29b-41d4-a716-446655440000/x", "{{tmp:1}}/x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (c.name == "tmp-own" || c.name == "home") {
				t.Skip("Windows has neither TMPDIR nor HOME")
			}
			require.Equal(t, c.want, scrubbed(t, c.text, Volatile()), c.reason)
		})
	}
}

// TestColons looks for no directory behind a colon without a slash, of which a text may have as many as words.
func TestColons(t *testing.T) {
	for text, want := range map[string]int{
		"a: b, 12:34:56 :::: {\"k\":\"v\"} C:": 0, `a:\b`: 1, "a:/b": 1, "https://example.com": 0,
	} {
		looked := 0
		directories(homeRoots, func(_, _ string) int { looked++; return 0 })(text)
		require.Equal(t, want, looked, text)
	}
}

func TestVolatileOfThisProcess(t *testing.T) {
	dir := t.TempDir()
	require.Equal(t, "{{tmp:1}}/a", scrubbed(t, filepath.ToSlash(dir)+"/a", Volatile()))
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	require.Equal(t, "{{home:1}}/a", scrubbed(t, filepath.ToSlash(home)+"/a", Volatile()))

	t.Setenv("TMPDIR", "/scratch/tmp")
	anywhere := newRules(t, Value("key", "s3cret"), Volatile()).Anywhere().newValues(true)
	text := "s3cret /scratch/tmp/x1/y /tmp/x1/y"
	require.Equal(t, "s3cret /scratch/tmp/x1/y {{tmp:1}}/y", edited(text, anywhere.requestEdits(text)), "what every process finds")
}

func BenchmarkVolatile(b *testing.B) {
	text := strings.Repeat("The quick brown fox: it jumps over 12 lazy dogs, a-b-c, and/or sleeps.\n", 1<<14)
	rules, err := New(Volatile())
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		rules.find(text, nil)
	}
}

func TestFindDates(t *testing.T) {
	for text, want := range map[string][]string{
		"since 2026-11-23, until (2026-12-01).": {"2026-11-23", "2026-12-01"},
		"2026-11-23 and 2026-11-24":             {"2026-11-23", "2026-11-24"},
		"2025-11-01":                            nil, // the version of an API
		"gpt-4o-2024-08-06 says":                nil,
		"a/2024-08-06/b 2024-13-06 12024-08-06": nil,
	} {
		var found []string
		for _, s := range findDates(text) {
			found = append(found, text[s.start:s.end])
		}
		require.Equal(t, want, found, text)
	}
}
