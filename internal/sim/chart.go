package sim

import (
	"bufio"
	"fmt"
	"io"
)

// Utilization returns which share of the time until end the links that carried
// anything were busy, on average and at most, and which one was the busiest.
func (n *Network) Utilization(end Time) (mean, most float64, where string) {
	used, worst := 0, -1
	for id := range n.links {
		if n.links[id].packets == 0 {
			continue
		}
		used++
		u := float64(n.links[id].busy) / float64(end)
		mean += u
		if worst < 0 || u > most {
			most, worst = u, id
		}
	}
	if used == 0 {
		return 0, 0, "no link was used"
	}
	return mean / float64(used), most, n.linkName(worst)
}

// machineName returns what the picture calls a machine.
func (n *Network) machineName(id int) string {
	if s, ok := n.topology.(*switched); ok {
		return s.vertexName(id)
	}
	return fmt.Sprintf("rank %d", id)
}

func (n *Network) linkName(id int) string {
	from, to := n.topology.Ends(id)
	return n.vertexName(from) + " → " + n.vertexName(to)
}

func (n *Network) vertexName(v int) string {
	if s, ok := n.topology.(*switched); ok {
		return s.vertexName(v)
	}
	if m := n.topology.Machines(); v >= m {
		return fmt.Sprintf("switch %d", v-m)
	}
	return fmt.Sprint(v)
}

// WriteSVG draws the network, with each link in the colour of its load: of the
// time that it was busy where links have a bandwidth, else of its bytes.
func (n *Network) WriteSVG(w io.Writer, end Time) error {
	const scale, margin = 40.0, 40.0
	t := n.topology
	var left, right, top, bottom float64
	for v := range t.Vertices() {
		x, y := t.Place(v)
		left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
	}
	at := func(v int) (x, y float64) {
		x, y = t.Place(v)
		return margin + (x-left)*scale, 2*margin + (y-top)*scale
	}
	out := bufio.NewWriter(w)
	wide := max((right-left)*scale+2*margin, 480)
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\">\n",
		wide, (bottom-top)*scale+3*margin)
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
		if v < t.Machines() {
			fmt.Fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"#333\"><title>%s</title></circle>\n", x, y, n.machineName(v))
		} else {
			fmt.Fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"#888\"><title>%s</title></rect>\n", x-5, y-5, n.vertexName(v))
		}
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// A load is how much each link has to do.
type load struct {
	of   []float64 // by link
	most float64
	unit string
}

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

// shades go from a link that carried little to the busiest.
var shades = []string{"#dddddd", "#ffeda0", "#feb24c", "#fd8d3c", "#e31a1c", "#800026"}

// shade returns the colour of a link.
func (l *load) shade(id int) string {
	if l.most == 0 {
		return shades[0]
	}
	return shades[min(int(l.of[id]/l.most*float64(len(shades))), len(shades)-1)]
}

func (l *load) legend(w io.Writer, name string) {
	fmt.Fprintf(w, "<text x=\"20\" y=\"24\" font-size=\"16\">%s: load of the links, up to %.3g %s</text>\n", name, l.most, l.unit)
	for i, c := range shades {
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"34\" width=\"60\" height=\"10\" fill=\"%s\"/>\n", 20+60*i, c)
		fmt.Fprintf(w, "<text x=\"%d\" y=\"58\" font-size=\"10\">%.2g</text>\n", 20+60*i, l.most*float64(i)/float64(len(shades)))
	}
}

// drawLink draws one direction of a link, beside the other. A link that goes
// round a torus is drawn as two stubs.
func (n *Network) drawLink(w io.Writer, id int, l *load, at func(int) (x, y float64), from, to int) {
	x1, y1 := at(from)
	x2, y2 := at(to)
	dx, dy := x2-x1, y2-y1
	if long := max(dx, -dx, dy, -dy); n.wraps(from, to) && long > 0 {
		dx, dy = -dx/long*14, -dy/long*14
		x2, y2 = x1+dx, y1+dy
	}
	if long := max(dx, -dx, dy, -dy); long > 0 {
		sx, sy := -dy/long*2, dx/long*2
		x1, x2, y1, y2 = x1+sx, x2+sx, y1+sy, y2+sy
	}
	if s, ok := n.topology.(*switched); ok && s.down(id) {
		fmt.Fprintf(w, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#0050ff\" stroke-width=\"3\" stroke-dasharray=\"6 4\"><title>%s: down</title></line>\n",
			x1, y1, x2, y2, n.linkName(id))
		return
	}
	fmt.Fprintf(w, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"3\"><title>%s: %.3g, %d packets</title></line>\n",
		x1, y1, x2, y2, l.shade(id), n.linkName(id), l.of[id], n.links[id].packets)
}

// wraps reports whether a link joins the two ends of a grid.
func (n *Network) wraps(from, to int) bool {
	t, ok := n.topology.(*torus)
	if !ok || len(t.size) < 2 {
		return false
	}
	x1, y1 := t.Place(from)
	x2, y2 := t.Place(to)
	return max(x1-x2, x2-x1, y1-y2, y2-y1) > 1
}
