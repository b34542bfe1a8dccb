package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestChartWithoutAFigure: a figure of zero, which is none, is left out of a chart with logarithmic axes.
func TestChartWithoutAFigure(t *testing.T) {
	c := &chart{title: "delay", x: "senders", y: "us"}
	c.add("fixed", 1, 60)
	c.add("fixed", 64, 0)
	c.add("window", 1, 10)
	c.add("window", 64, 12)
	file := filepath.Join(t.TempDir(), "chart.svg")
	if err := c.save(file); err != nil {
		t.Fatal(err)
	}
	if svg, err := os.ReadFile(file); err != nil || !bytes.Contains(svg, []byte("window")) {
		t.Errorf("%v: %.200s", err, svg)
	}
	if ticks := decades(0, 10); ticks != nil {
		t.Errorf("marks of an axis that begins at 0: %v", ticks)
	}
}

// A chart without points is left out, and a picture without charts is an error.
func TestChartsWithoutPoints(t *testing.T) {
	full := &chart{title: "full"}
	full.add("a", 1, 2)
	file := filepath.Join(t.TempDir(), "charts.svg")
	if err := saveCharts(file, []*chart{{title: "empty"}, full}); err != nil {
		t.Error(err)
	}
	if err := saveCharts(file, []*chart{{title: "empty"}}); err == nil {
		t.Error("nothing is drawn")
	}
}
