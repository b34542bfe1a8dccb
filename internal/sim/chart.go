package sim

import (
	"bufio"
	"fmt"
	"io"
	"math"
)

// Utilization returns the share of the time until end in which links were busy: the mean of all links that carried
// anything, the highest, and the name of the busiest link.
func (n *Network) Utilization(end Time) (mean, most float64, where string) {
	used := 0
	worst := -1
	for id := range n.links {
		if n.links[id].packets == 0 {
			continue
		}
		used++
		u := float64(n.links[id].busy) / float64(end)
		mean += u
		if worst < 0 || u > most {
			most = u
			worst = id
		}
	}
	if used == 0 {
		return 0, 0, "no link was used"
	}
	return mean / float64(used), most, n.linkName(worst)
}

// machineName returns the name of a machine in the picture.
func (n *Network) machineName(id int) string {
	if s, ok := n.topology.(Labelled); ok {
		return s.Label(id)
	}
	return fmt.Sprintf("rank %d", id)
}

// linkName names a link by the vertices at its ends.
func (n *Network) linkName(id int) string {
	from, to := n.topology.Ends(id)
	return n.vertexName(from) + " → " + n.vertexName(to)
}

// vertexName returns the name that the network file gives to a host or switch, or a number where there is no file.
func (n *Network) vertexName(v int) string {
	if s, ok := n.topology.(Labelled); ok {
		return s.Label(v)
	}
	if m := n.topology.Machines(); v >= m {
		return fmt.Sprintf("switch %d", v-m)
	}
	return fmt.Sprint(v)
}

// WriteSVG draws the network, each link in the colour of its load. Where links have a bandwidth, the load is the
// share of the time that the link was busy, else the bytes that it carried. The picture has a background of its own,
// so that it is readable in dark mode.
func (n *Network) WriteSVG(w io.Writer, end Time) error {
	const (
		scale  = 40.0
		margin = 40.0
	)
	t := n.topology
	var left, right, top, bottom float64
	for v := range t.Vertices() {
		x, y := t.Place(v)
		left = min(left, x)
		right = max(right, x)
		top = min(top, y)
		bottom = max(bottom, y)
	}
	at := func(v int) (x, y float64) {
		x, y = t.Place(v)
		return margin + (x-left)*scale, 2*margin + (y-top)*scale
	}
	out := bufio.NewWriter(w)
	wide := max((right-left)*scale+2*margin, 480)
	high := (bottom-top)*scale + 3*margin
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "+
		"font-family=\"Arial,Helvetica,sans-serif\">\n", wide, high)
	fmt.Fprintln(out, `<rect width="100%" height="100%" fill="white"/>`)
	load := n.load(end)
	load.legend(out, t.Name())
	for id := range n.links {
		from, to := t.Ends(id)
		if from < 0 {
			continue
		}
		n.drawLink(out, id, &load, at, from, to)
	}
	for v := range t.Vertices() {
		x, y := at(v)
		n.drawVertex(out, v, x, y)
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// drawVertex draws a machine as a dot and a switch as a square.
func (n *Network) drawVertex(w io.Writer, v int, x, y float64) {
	if v < n.topology.Machines() {
		fmt.Fprintf(w, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"#333\"><title>%s</title></circle>\n",
			x, y, n.machineName(v))
		return
	}
	fmt.Fprintf(w, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"#888\"><title>%s</title></rect>\n",
		x-5, y-5, n.vertexName(v))
}

// A load is the load of every link.
type load struct {
	of   []float64 // by link
	most float64
	unit string
}

// load returns what the chart shows of each link: the share of the time in which it was busy. Links without a rate
// are never busy; of these it returns the bytes that they carried.
func (n *Network) load(end Time) load {
	l := load{of: make([]float64, len(n.links)), unit: "% of the time busy"}
	for id := range n.links {
		l.of[id] = 100 * float64(n.links[id].busy) / float64(end)
		l.most = max(l.most, l.of[id])
	}
	if l.most > 0 {
		return l
	}
	l.unit = "bytes"
	for id := range n.links {
		l.of[id] = float64(n.links[id].bytes)
		l.most = max(l.most, l.of[id])
	}
	return l
}

// shades are the colours of links, from the least loaded to the busiest. They become darker all the way, so that
// colour-blind readers can tell them apart.
var shades = []string{"#d0d0d0", "#fed976", "#feb24c", "#fc6d33", "#d1101f", "#67000d"}

// shade returns the colour of a link.
func (l *load) shade(id int) string {
	if l.most == 0 {
		return shades[0]
	}
	return shades[min(int(l.of[id]/l.most*float64(len(shades))), len(shades)-1)]
}

// legend draws the title, and each colour with the least load that it stands for.
func (l *load) legend(w io.Writer, name string) {
	fmt.Fprintf(w, "<text x=\"20\" y=\"24\" font-size=\"16\">%s: load of the links (%s)</text>\n", name, l.unit)
	for i, c := range shades {
		x := 20 + 60*i
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"34\" width=\"60\" height=\"10\" fill=\"%s\"/>\n", x, c)
		fmt.Fprintf(w, "<text x=\"%d\" y=\"58\" font-size=\"11\">%.4g</text>\n",
			x, math.Round(100*l.most*float64(i)/float64(len(shades)))/100)
	}
	fmt.Fprintf(w, "<text x=\"%d\" y=\"58\" font-size=\"11\">%.4g</text>\n", 20+60*len(shades), l.most)
}

// drawLink draws one direction of a link, beside the other direction. A link that joins the opposite sides of a
// torus is drawn as two stubs.
func (n *Network) drawLink(w io.Writer, id int, l *load, at func(int) (x, y float64), from, to int) {
	x1, y1 := at(from)
	x2, y2 := at(to)
	dx := x2 - x1
	dy := y2 - y1
	if long := max(dx, -dx, dy, -dy); n.wraps(from, to) && long > 0 {
		dx = -dx / long * 14
		dy = -dy / long * 14
		x2 = x1 + dx
		y2 = y1 + dy
	}
	if long := max(dx, -dx, dy, -dy); long > 0 {
		sx := -dy / long * 2
		sy := dx / long * 2
		x1 += sx
		x2 += sx
		y1 += sy
		y2 += sy
	}
	style := fmt.Sprintf("stroke=\"%s\" stroke-width=\"3\"", l.shade(id))
	title := fmt.Sprintf("%s: %.3g, %d packets", n.linkName(id), l.of[id], n.links[id].packets)
	if s, ok := n.topology.(Labelled); ok && s.Down(id) {
		style = "stroke=\"#0072b2\" stroke-width=\"3\" stroke-dasharray=\"6 4\""
		title = n.linkName(id) + ": down"
	}
	fmt.Fprintf(w, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s><title>%s</title></line>\n",
		x1, y1, x2, y2, style, title)
}

// wraps reports whether a link joins opposite sides of a torus.
func (n *Network) wraps(from, to int) bool {
	t, ok := n.topology.(*torus)
	if !ok || len(t.size) < 2 {
		return false
	}
	x1, y1 := t.Place(from)
	x2, y2 := t.Place(to)
	return max(x1-x2, x2-x1, y1-y2, y2-y1) > 1
}
