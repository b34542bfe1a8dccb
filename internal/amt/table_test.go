package amt

import (
	"errors"
	"strings"
	"testing"
)

func TestOwnAt(t *testing.T) {
	a := Table{Ranks: 4, Receivers: []Rings{
		{Rank: 0, Rings: []int{4096, 4096}, Table: map[int]int{3: 1}},
		{Rank: 1, Rings: []int{4096, 4096}, Table: map[int]int{3: 1, 2: 1}}, // they share it
		{Rank: 2, Rings: []int{4096}, Table: map[int]int{3: 0}},
	}}
	if own := a.OwnAt(3); len(own) != 1 || !own[0] {
		t.Error(own)
	}
	if own := a.OwnAt(2); len(own) != 0 {
		t.Error(own)
	}
	if _, ok := a.Of(3); ok {
		t.Error("rank 3 has rings")
	}
}

func TestTablesThatAreNone(t *testing.T) {
	for text, why := range map[string]string{
		`{`:                   "no AMT file",
		`{"amt":2,"ranks":1}`: "begins with",
		`{"amt":1,"ranks":0}`: "for 0 ranks",
		`{"amt":1,"ranks":4,"receivers":[{"rank":4,"rings":[4096]}]}`:                           "below 4",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[4096]},{"rank":1,"rings":[4096]}]}`: "ascend",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[]}]}`:                               "no ring",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[5]}]}`:                              "a ring of 5 bytes",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[4096],"table":{"9":0}}]}`:           "sender 9 of 4",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[4096],"table":{"2":1}}]}`:           "ring 1 of 1",
	} {
		if err := readTable(text); !errors.Is(err, ErrTable) || !contains(err, why) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add(`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[4096,8192],"table":{"2":1}}]}`)
	f.Fuzz(func(t *testing.T, text string) { readTable(text) })
}

func readTable(text string) error {
	_, err := ReadTable(strings.NewReader(text))
	return err
}

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }
