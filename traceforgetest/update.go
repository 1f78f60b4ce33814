package traceforgetest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// Updating reports whether the run rewrites goldens: with -update, or with TRACEFORGE_UPDATE set to 1 or all. So a test
// can let its own golden files follow the same flag. It is false in the other modes (new, tools, rekey, check, live).
// Call it from a test, after the flags have been parsed.
func Updating() bool {
	m, err := currentMode()
	return err == nil && (m == recorder.Update || m == recorder.UpdateAll)
}

// currentMode returns the mode of -update, or else of TRACEFORGE_UPDATE.
func currentMode() (recorder.Mode, error) {
	if !flag.Parsed() && hasUpdateFlag(os.Args) {
		return recorder.Replay, errors.New("the flags are not parsed yet, so -update would be taken for a replay: " +
			"call flag.Parse() in TestMain before New, or make the recorder in the test")
	}
	if m := updateFlag(); m != recorder.Replay {
		if gotest.InCI() {
			return recorder.Replay, errFlagInCI
		}
		return m, nil
	}
	value := os.Getenv(gotest.UpdateEnv) // for where a flag cannot: packages that do not know -update
	m, err := recorder.ParseMode(value)
	if err != nil {
		err = fmt.Errorf("%s=%s is not known: %w", gotest.UpdateEnv, value, err)
	}
	return m, err
}

// errFlagInCI fails a run with the flag in CI: a flag left in a command by mistake would make goldens that nobody has
// reviewed.
var errFlagInCI = errors.New(
	"-update is refused in CI, which replays: CI is set, and no call was made; to record all the same: " +
		gotest.UpdateEnv + "=1 go test …")

// toldFlagInCI is set when a test of the process has failed with errFlagInCI.
var toldFlagInCI atomic.Bool

// updateFlag returns the mode that -update names on the command line. A flag's default does not count, because other
// packages that define -update take its default from their own variables.
func updateFlag() (mode recorder.Mode) {
	flag.Visit(func(f *flag.Flag) {
		if f.Name != "update" {
			return
		}
		if ours, ok := f.Value.(*updateValue); ok {
			mode = ours.mode
		} else if on, err := strconv.ParseBool(f.Value.String()); err == nil && on {
			mode = recorder.Update
		}
	})
	return mode
}

// updating turns a go test command into one that records. It sets the variable if the test binary has its own -update
// flag that takes a value, such as a file name.
func updating(command string) string {
	if f := flag.Lookup("update"); f != nil && !isToggle(f) {
		return gotest.UpdateEnv + "=1 " + command
	}
	return gotest.Updating(command)
}

// isToggle reports whether a flag takes no value.
func isToggle(f *flag.Flag) bool {
	toggle, is := f.Value.(interface{ IsBoolFlag() bool })
	return is && toggle.IsBoolFlag()
}

// misplacedPackages returns the package pattern of a command line like "go test -update ./...". There go tests only the
// current directory, because it passes everything after the first unknown flag to the test binary.
func misplacedPackages(args []string) string {
	for _, arg := range args {
		if arg == "." || strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "../") || strings.HasSuffix(arg, "/...") {
			return arg
		}
	}
	return ""
}

const hookFlag = "traceforge.define-update"

// init makes -update known without colliding with the many packages and test files that define it themselves (design
// R11). If -update is on the command line, init puts a private flag in front of it. The flag package sets the private
// flag first, after all package variables have been initialized, and only then defines "update" if nobody else has. The
// private flag also sets -update if the traceforge command asks for it through the environment. That variable is
// removed so that child processes do not see it.
func init() {
	told := os.Getenv(usage.FlagEnv) != ""
	if !testing.Testing() || !told && !hasUpdateFlag(os.Args) {
		return
	}
	os.Unsetenv(usage.FlagEnv)
	flag.BoolFunc(hookFlag, "internal to traceforge", func(string) error {
		if flag.Lookup("update") == nil {
			flag.Var(new(updateValue), "update", "record the model calls that changed, =all to record every call")
		}
		if told && isToggle(flag.Lookup("update")) {
			return flag.Set("update", "true")
		}
		return nil
	})
	os.Args = append([]string{os.Args[0], "-" + hookFlag}, os.Args[1:]...)
}

func hasUpdateFlag(args []string) bool {
	for _, arg := range args[min(1, len(args)):] {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "-update", "--update":
			return true
		case "--", "-args", "--args":
			return false
		}
	}
	return false
}

// An updateValue is the -update of this package: a boolean flag that also takes the names of modes.
type updateValue struct{ mode recorder.Mode }

func (v *updateValue) String() string   { return v.mode.String() }
func (v *updateValue) IsBoolFlag() bool { return true }

func (v *updateValue) Set(value string) (err error) {
	v.mode, err = recorder.ParseMode(value)
	return err
}
