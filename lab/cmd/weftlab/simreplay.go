package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/engine/wire"
	"weft/internal/record"
	"weft/internal/record/replay"
)

const simReplayHelp = `Repeats what the engine of a rank did in a real run, without the other ranks.

A job that runs with WEFT_RECORD=FILE in its environment writes, for each rank, what goes
into the rank's engine to FILE.RANK: packets, operations and their times. Replay gives the
same to a new engine. It does the same again, up to the same panic; every 1000 events its
state is compared with the recorded one, and replay stops where they differ. At the end it
prints how much was played, and the operations that had not ended.

A recording holds what the rank received, but not the secret of its job.

EXAMPLES
  WEFT_RECORD=/tmp/hello weft run -n 2 -transport udp ./examples/hello
  weftlab sim replay /tmp/hello.0
  weftlab sim replay -log /tmp/hello.0`

func simReplayCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab sim replay", flag.ContinueOnError)
	log := fs.Bool("log", false, "print every event")
	return &ffcli.Command{
		Name: "replay", ShortUsage: "weftlab sim replay [-log] FILE", ShortHelp: "play a recording of a real run",
		LongHelp: simReplayHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return errors.New("sim replay: which recording? For example: weftlab sim replay /tmp/hello.0")
			}
			return simReplay(args[0], *log)
		},
	}
}

func simReplay(name string, log bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var visit func(record.Input)
	if log {
		visit = func(e record.Input) { fmt.Println(describe(e)) }
	}
	r, err := replay.Play(f, visit)
	if err != nil {
		return err
	}
	fmt.Printf("%d inputs played; %d states compared, all as recorded; the last one is %#016x\n", r.Inputs, r.States,
		r.Hash)
	for _, line := range append(r.Engine.Unfinished(), r.Engine.Msg.Waiting()...) {
		fmt.Println("  at the end:", line)
	}
	return nil
}

// describe tells an input in a line.
func describe(e record.Input) string {
	s := fmt.Sprintf("%12d %-13s", e.Now, e.Do)
	if e.Op > 0 {
		s += fmt.Sprintf(" op=%d", e.Op)
	}
	switch {
	case e.Do == "recv" && e.Rank < 0:
		return s + " " + wire.DescribePacket(e.Bytes)
	case e.Do == "recv":
		return s + fmt.Sprintf(" from=%d %s", e.Rank, wire.Describe(e.Bytes))
	case e.Msg != nil:
		return s + fmt.Sprintf(" %+v", *e.Msg)
	case e.RMA != nil:
		return s + fmt.Sprintf(" %+v", *e.RMA)
	case e.Hash != 0:
		return s + fmt.Sprintf(" %#016x", e.Hash)
	}
	return s + fmt.Sprintf(" rank=%d n=%d m=%d ok=%t %s", e.Rank, e.N, e.M, e.OK, e.Name)
}
