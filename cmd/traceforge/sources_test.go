package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsTestFunc(t *testing.T) {
	for name, want := range map[string]bool{
		"Test": true, "TestX": true, "Test_x": true, "Test1": true, "TestÄ": true, "BenchmarkX": true, "FuzzX": true, "Example": true, "Example_suffix": true,
		"": false, "Testing": false, "Testärger": false, "TestX is asked": false, "Agent when asked": false, "test": false, "Agent": false, "TestX.y": false,
	} {
		require.Equal(t, want, isTestFunc(name), name)
	}
}
