package snapshot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

func TestMigrate(t *testing.T) {
	valid := encode(t, document(t, record("TestX", 1)))
	for name, c := range map[string]struct {
		why      string
		data     string
		from, to string
		want     string
		says     string // else an error that says so
	}{
		"same":       {"the canonical bytes", string(valid), "1.0.0", "1.0.0", string(valid), ""},
		"rewrites":   {"the canonical bytes", strings.ReplaceAll(string(valid), "  ", "\t"), "1.0.0", "1.0.0", string(valid), ""},
		"invalid":    {"nothing is mended", strings.Replace(string(valid), "Hello!", "Hallo!", 1), "1.0.0", "1.0.0", "", "/snapshots/0/hash: seal"},
		"old":        {"SF's own wording", `{"version":"0.9.0"}`, "0.9.0", "1.0.0", "", "Snapshot version 0.9.0 is no longer supported\n   Current version: 1.0.0\n   Re-record all snapshots"},
		"old-is-new": {"nothing is guessed", string(valid), "0.9.0", "1.0.0", "", "migrate from 0.9.0: snapshot version is not supported: the document is of version 1.0.0 already"},
		"other-old":  {"the document says what it is", `{"version":"0.8.0"}`, "0.9.0", "1.0.0", "", "Snapshot version 0.8.0 is no longer supported"},
		"no-json":    {"no version at all", "", "0.9.0", "1.0.0", "", "Snapshot version 0.9.0 is no longer supported"},
		"back":       {"there is no way back", string(valid), "1.0.0", "0.9.0", "", "migrate to 0.9.0: snapshot version is not supported: the current version is 1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := snapshot.Migrate([]byte(c.data), c.from, c.to)
			if c.says == "" {
				require.NoError(t, err)
				require.Equal(t, c.want, string(got), c.why)
				return
			}
			require.ErrorContains(t, err, c.says, c.why)
			if name != "invalid" {
				require.ErrorIs(t, err, snapshot.ErrVersion)
			}
		})
	}
}
