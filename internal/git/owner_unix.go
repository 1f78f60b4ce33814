//go:build unix

package git

import (
	"os"
	"slices"
	"strconv"
	"syscall"
)

// owned reports whether .git, its directory and the path that it names belong to this user. Like git, it accepts files
// of the user who called sudo if this user is root.
func (r *Repository) owned(entry string) bool {
	owners := []string{strconv.Itoa(os.Geteuid())}
	if sudo := os.Getenv("SUDO_UID"); owners[0] == "0" && sudo != "" {
		owners = append(owners, sudo)
	}
	for _, file := range []string{r.Top, entry, r.dir} {
		info, err := os.Lstat(file)
		if err != nil {
			return false
		}
		of, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !slices.Contains(owners, strconv.FormatUint(uint64(of.Uid), 10)) {
			return false
		}
	}
	return true
}
