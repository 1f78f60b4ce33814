package tbtest

import "os"

// Sampled returns few, or all if TRACEFORGE_TEST_ALL is set, as in make check. It is for tests that repeat one check
// often.
func Sampled[T any](few, all T) T {
	if os.Getenv("TRACEFORGE_TEST_ALL") != "" {
		return all
	}
	return few
}
