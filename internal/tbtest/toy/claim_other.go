//go:build !unix || solaris || aix

package toy

// claim locks nothing: this system has no flock.
func claim(string) (release func(), ok bool) { return nil, false }
