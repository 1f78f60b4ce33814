package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

func TestMaxAge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reason, text string
		want               MaxAge
		wrong              string
	}{
		{"both", "it warns first", `{"max_age":{"warn_days":60,"fail_days":90}}`, MaxAge{60, 90}, ""},
		{"warn", "it never fails", `{"max_age":{"warn_days":60}}`, MaxAge{60, 0}, ""},
		{"fail", "it fails at once", `{"max_age":{"fail_days":1}}`, MaxAge{0, 1}, ""},
		{"none", "it would say nothing", `{"max_age":{}}`, MaxAge{}, "/max_age: missing: must have warn_days, fail_days or both"},
		{"order", "the warning would come too late", `{"max_age":{"warn_days":90,"fail_days":60}}`, MaxAge{},
			"/max_age: value: must warn before it fails: warn_days is 90, fail_days 60"},
		{"zero", "nothing is older", `{"max_age":{"warn_days":0}}`, MaxAge{}, "/max_age/warn_days: value: must be a number of days, 1 or more, is 0"},
		{"text", "days are counted", `{"max_age":{"warn_days":"60d"}}`, MaxAge{}, `/max_age/warn_days: value: must be a number of days, 1 or more, is "60d"`},
		{"unknown", "a typing error", `{"max_age":{"days":1}}`, MaxAge{}, "/max_age/days: unknown: there are fail_days, warn_days"},
		{"type", "it has members", `{"max_age":90}`, MaxAge{}, "/max_age: type: must be an object, is a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := newStore(t)
			writeFile(t, dir, ConfigName, c.text)
			config, err := s.Config()
			if c.wrong != "" {
				var wrong *snapshot.Error
				require.ErrorAs(t, err, &wrong, c.reason)
				require.Contains(t, err.Error(), c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, config.MaxAge, c.reason)
			require.Equal(t, c.want != MaxAge{}, config.MaxAge.IsSet())
		})
	}
}
