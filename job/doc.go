// Package job starts jobs from Go: real processes of this machine, each of them a rank. It is for tests of what a
// program does when ranks die, stop or are slow.
//
//	func TestMain(m *testing.M) {
//		job.Main(map[string]func(context.Context, *weft.Proc) error{"farm": run})
//		os.Exit(m.Run())
//	}
//
//	func TestDeath(t *testing.T) {
//		j, err := job.Start(t.Context(), job.Config{Ranks: 4, Run: "farm"})
//		if err != nil {
//			t.Fatal(err)
//		}
//		defer j.Close() // nothing is left behind, however the test ends
//		j.Kill(2)
//		if err := j.Wait(t.Context()); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// When one rank fails, the others go on. If the process that has started a job ends, in whatever way, the ranks and
// the processes that they have started are killed. The package needs Linux.
package job
