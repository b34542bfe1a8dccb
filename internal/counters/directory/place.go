package directory

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"weft/internal/sys"
)

// Env names the directory in which the directory of the user lies, in the place of the usual
// ones; Off means that there are no pages.
const (
	Env = "WEFT_COUNTERS"
	Off = "off"
)

// roots returns the directories in which that of a user may lie, the best first. Files in
// memory need no disk; /dev/shm is the same for all logins of a user and for batch systems.
func roots() []string {
	switch dir := os.Getenv(Env); dir {
	case Off:
		return nil
	case "":
	default:
		return []string{dir}
	}
	list := []string{"/dev/shm"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		list = append(list, dir)
	}
	return append(list, os.TempDir())
}

// prefix begins the name of the directory of a user; the number of the user follows.
const prefix = "weft-"

// places returns the directories of this user in which jobs may be.
func places() (list []string) {
	for _, root := range roots() {
		list = append(list, filepath.Join(root, prefix+strconv.Itoa(os.Getuid())))
	}
	return list
}

// visible returns the directories in which jobs may be that this user may see.
func visible() (list []string) {
	if os.Getuid() != 0 {
		return places()
	}
	for _, root := range roots() {
		entries, _ := os.ReadDir(root) // there may be none
		for _, e := range entries {
			if uid, ok := strings.CutPrefix(e.Name(), prefix); ok && isNumber(uid) {
				list = append(list, filepath.Join(root, e.Name()))
			}
		}
	}
	return list
}

// isNumber reports whether a name is that of a user or of a rank.
func isNumber(name string) bool {
	n, err := strconv.Atoi(name)
	return err == nil && n >= 0 && strconv.Itoa(n) == name
}

// isJob reports whether a name is what Name returns.
func isJob(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == nameSize
}

// private returns an error unless a directory is one that only this user can change. Root also
// looks at those of others.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	uid, ok := sys.Owner(info)
	if !ok || !info.IsDir() || info.Mode().Perm()&0o022 != 0 || uid != os.Getuid() && os.Getuid() != 0 {
		return fmt.Errorf("weft: others can write to %s: %w", dir, fs.ErrPermission)
	}
	return nil
}
