package tbtest

import "os"

// Sampled returns few, of what a test does again and again, and all if TRACEFORGE_TEST_ALL is set, as it is in make check.
func Sampled[T any](few, all T) T {
	if os.Getenv("TRACEFORGE_TEST_ALL") != "" {
		return all
	}
	return few
}
