package hwmodel

// A Chart is figures of a model over the length of a message: the shape of a figure
// of the paper.
type Chart struct {
	Name  string // short, for files and -json
	Title string
	Unit  string
	Lines []Line
}

// A Line is one of a chart.
type Line struct {
	Name   string
	Points []Point
}

// A Point is a length in bytes and what the model gives.
type Point struct {
	Bytes int
	Model Figure
}

// lengths are the powers of two over which lines are drawn.
func lengths(least, most int) []int {
	var all []int
	for n := least; n <= most; n *= 2 {
		all = append(all, n)
	}
	return all
}

// line computes a line.
func line(name string, over []int, of func(bytes int) Figure) Line {
	l := Line{Name: name}
	for _, n := range over {
		l.Points = append(l.Points, Point{n, of(n)})
	}
	return l
}
