package control

import (
	"slices"
	"strings"
	"testing"
)

// The sockets that this user's processes have named come first, however many another user has made. Root asks all.
func TestOwnSocketsFirst(t *testing.T) {
	const list = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 17 @weft-job-7-100-0
0000000000000000: 00000002 00000000 00010000 0001 01 18 @weft-job-5-200-0
0000000000000000: 00000002 00000000 00010000 0001 01 18 @weft-job-5-200-0
0000000000000000: 00000002 00000000 00010000 0001 01 19 @weft-streams-5-300-0
0000000000000000: 00000002 00000000 00010000 0001 01 20 @weft-job-5-many-0
0000000000000000: 00000003 00000000 00000000 0001 03 21
0000000000000000: 00000002 00000000 00010000 0001 01 22 @weft-job-5-400-0`
	for _, c := range []struct {
		pid, me int
		want    []string
		own     int
	}{
		{0, 5, []string{"200", "400", "100"}, 2},
		{0, 0, []string{"100", "200", "400"}, 3},
		{400, 5, []string{"400"}, 1},
		{0, 9, []string{"100", "200", "400"}, 0},
	} {
		var got []string
		own := 0
		for _, s := range sockets(strings.NewReader(list), Jobs, c.pid, c.me) {
			got = append(got, s.process)
			if s.own {
				own++
			}
		}
		if !slices.Equal(got, c.want) || own != c.own {
			t.Errorf("user %d, process %d: %v, %d of them own; want %v, %d", c.me, c.pid, got, own, c.want, c.own)
		}
	}
}
