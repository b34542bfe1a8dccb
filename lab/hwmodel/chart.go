package hwmodel

// A Chart is a set of curves of a model over the length of a message, like a figure of the paper.
type Chart struct {
	Name  string // short, for files and -json
	Title string
	Unit  string
	Lines []Line
}

// A Line is one curve of a chart.
type Line struct {
	Name   string
	Points []Point
}

// A Point is a length in bytes and the model's figure for it.
type Point struct {
	Bytes int
	Model Figure
}

// lengths returns least, twice least, and so on up to most: the lengths over which lines are drawn.
func lengths(least, most int) []int {
	var all []int
	for n := least; n <= most; n *= 2 {
		all = append(all, n)
	}
	return all
}

// line computes a curve.
func line(name string, over []int, of func(bytes int) Figure) Line {
	l := Line{Name: name}
	for _, n := range over {
		l.Points = append(l.Points, Point{n, of(n)})
	}
	return l
}
