package sys

import (
	"os"
	"path/filepath"
	"testing"
)

// What somebody has put where a file is to be made is neither followed nor overwritten.
func TestCreateFresh(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	precious := at("precious")
	for name, make := range map[string]func() error{
		"link":     func() error { return os.Symlink(precious, at("link")) },
		"dangling": func() error { return os.Symlink(at("nothing"), at("dangling")) },
		"dir":      func() error { return os.Mkdir(at("dir"), 0o700) },
	} {
		if err := os.WriteFile(precious, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if f, err := CreateFresh(at(name)); err == nil {
			f.Close()
			t.Errorf("%s: it was made", name)
		}
	}
	if text, _ := os.ReadFile(precious); string(text) != "kept" {
		t.Errorf("it was overwritten: %q", text)
	}
	if _, err := os.Lstat(at("nothing")); err == nil {
		t.Error("a link was followed")
	}
	if err := os.WriteFile(at("old"), []byte("of an earlier run"), 0o666); err != nil {
		t.Fatal(err)
	}
	old, err := os.Open(at("old"))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	f, err := CreateFresh(at("old"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, _ := f.Stat(); info.Mode().Perm() != 0o600 || info.Size() != 0 {
		t.Errorf("%v", info.Mode())
	}
	if was, _ := old.Stat(); was.Size() == 0 {
		t.Error("a reader of the old file sees the new one")
	}
}
