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

// A place is the directory of a user in which jobs may be. Everybody can write where it lies, so
// a stranger may have put anything under its name. It is used by its descriptor alone, once
// openOwn has looked at it.
type place struct {
	root string
	uid  int
}

func (p place) name() string { return prefix + strconv.Itoa(p.uid) }
func (p place) path() string { return filepath.Join(p.root, p.name()) }

// open opens the place. It is an error if another user could change what is in it.
func (p place) open() (*os.Root, error) {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return openOwn(root, p.name(), p.uid)
}

// openJob opens the directory of a job in the place.
func (p place) openJob(job string) (*os.Root, error) {
	dir, err := p.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return openOwn(dir, job, p.uid)
}

// make is openJob, and makes the place and the directory of the job where they are missing.
func (p place) make(job string) (*os.Root, error) {
	if err := os.MkdirAll(p.root, 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(p.path(), 0o700); err != nil && !os.IsExist(err) {
		return nil, err
	}
	dir, err := p.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := dir.Mkdir(job, 0o700); err != nil && !os.IsExist(err) {
		return nil, err
	}
	return openOwn(dir, job, p.uid)
}

// removeEmpty removes the directory of a job and then the place, unless something is in them.
func (p place) removeEmpty(job string) {
	if dir, err := p.open(); err == nil {
		_ = dir.Remove(job)
		dir.Close()
		_ = os.Remove(p.path()) // where it lies, only this user can replace it
	}
}

// openOwn opens a directory that a user owns and nobody else can write to. What lies under the name
// may be replaced at any time, so the open directory is examined, and must be no symbolic link's.
func openOwn(in *os.Root, name string, uid int) (*os.Root, error) {
	named, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	refuse := func(why string) error {
		return fmt.Errorf("weft: %s %s: %w", filepath.Join(in.Name(), name), why, fs.ErrPermission)
	}
	if !named.IsDir() { // nor opened: a FIFO would wait
		return nil, refuse("is no directory")
	}
	dir, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	info, err := dir.Stat(".")
	if err == nil {
		owner, known := sys.Owner(info)
		switch {
		case !os.SameFile(named, info):
			err = refuse("has been replaced")
		case !known || owner != uid:
			err = refuse("is not of user " + strconv.Itoa(uid))
		case info.Mode().Perm()&0o022 != 0:
			err = refuse("can be written to by others")
		}
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// places returns the places of this user.
func places() (list []place) {
	for _, root := range roots() {
		list = append(list, place{root, os.Getuid()})
	}
	return list
}

// visible returns the places that this user may see: root sees those of all users.
func visible() (list []place) {
	if os.Getuid() != 0 {
		return places()
	}
	for _, root := range roots() {
		entries, _ := os.ReadDir(root) // there may be none
		for _, e := range entries {
			if p, ok := parsePlace(filepath.Join(root, e.Name())); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// parsePlace is the inverse of place.path.
func parsePlace(path string) (p place, ok bool) {
	uid, ok := strings.CutPrefix(filepath.Base(path), prefix)
	if !ok || !isNumber(uid) {
		return place{}, false
	}
	p.root = filepath.Dir(path)
	p.uid, _ = strconv.Atoi(uid)
	return p, true
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
