package switches

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"

	"weft/internal/sim"
	"weft/lab/switches/fabric"
	"weft/lab/switches/updown"
)

// shades are the colours of links, from the least loaded to the busiest. They become darker all the way, so that
// colour-blind readers can tell them apart.
var shades = []string{"#d0d0d0", "#fed976", "#feb24c", "#fc6d33", "#d1101f", "#67000d"}

// A picture is a network that is being drawn.
type picture struct {
	*bufio.Writer
	*switched
	load      []int // by link: between how many pairs of hosts packets go over it
	most      int
	left, top float64
}

// WriteSVG draws a network, each link in the colour of its load if every host sends one packet to every other. The
// picture has a background of its own, so that it is readable in dark mode.
func WriteSVG(w io.Writer, name string, n *fabric.Network, r *updown.Routes) error {
	t := New(name, n, r, sim.Wire{}).(*switched)
	p := &picture{Writer: bufio.NewWriter(w), switched: t, load: make([]int, t.Links())}
	hosts := t.Machines()
	for from := range hosts {
		for to := range hosts {
			if _, ok := r.Between(from, to); !ok || from == to {
				continue
			}
			for at := from; at != to; {
				next, link, _ := t.Next(from, at, to)
				p.load[link]++
				at = next
			}
		}
	}
	p.most = slices.Max(append(p.load, 0))
	var right, bottom float64
	for _, at := range t.places {
		p.left = min(p.left, at[0])
		right = max(right, at[0])
		p.top = min(p.top, at[1])
		bottom = max(bottom, at[1])
	}
	fmt.Fprintf(p, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "+
		"font-family=\"Arial,Helvetica,sans-serif\">\n", max((right-p.left)*scale+2*margin, 480), (bottom-p.top)*scale+3*margin)
	fmt.Fprintln(p, `<rect width="100%" height="100%" fill="white"/>`)
	p.legend(name)
	for id := range p.load {
		p.drawLink(id)
	}
	for v := range t.places {
		p.drawVertex(v)
	}
	fmt.Fprintln(p, "</svg>")
	return p.Flush()
}

const (
	scale  = 40.0
	margin = 40.0
)

// at returns where a vertex is drawn.
func (p *picture) at(v int) (x, y float64) {
	return margin + (p.places[v][0]-p.left)*scale, 2*margin + (p.places[v][1]-p.top)*scale
}

// drawVertex draws a host as a dot and a switch as a square.
func (p *picture) drawVertex(v int) {
	x, y := p.at(v)
	if v < p.Machines() {
		fmt.Fprintf(p, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"#333\"><title>%s</title></circle>\n", x, y, p.Label(v))
		return
	}
	fmt.Fprintf(p, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"#888\"><title>%s</title></rect>\n",
		x-5, y-5, p.Label(v))
}

// legend draws the title, and each colour with the least load that it stands for.
func (p *picture) legend(name string) {
	fmt.Fprintf(p, "<text x=\"20\" y=\"24\" font-size=\"16\">%s: load of the links (packets)</text>\n", name)
	for i := range len(shades) + 1 {
		x := 20 + 60*i
		if i < len(shades) {
			fmt.Fprintf(p, "<rect x=\"%d\" y=\"34\" width=\"60\" height=\"10\" fill=\"%s\"/>\n", x, shades[i])
		}
		fmt.Fprintf(p, "<text x=\"%d\" y=\"58\" font-size=\"11\">%.4g</text>\n",
			x, math.Round(100*float64(p.most*i)/float64(len(shades)))/100)
	}
}

// drawLink draws one direction of a link, beside the other direction.
func (p *picture) drawLink(id int) {
	from, to := p.Ends(id)
	x1, y1 := p.at(from)
	x2, y2 := p.at(to)
	dx := x2 - x1
	dy := y2 - y1
	if long := max(dx, -dx, dy, -dy); long > 0 {
		sx := -dy / long * 2
		sy := dx / long * 2
		x1 += sx
		x2 += sx
		y1 += sy
		y2 += sy
	}
	name := p.Label(from) + " → " + p.Label(to)
	title := fmt.Sprintf("%s: %d packets", name, p.load[id])
	shade := shades[min(p.load[id]*len(shades)/max(p.most, 1), len(shades)-1)]
	style := fmt.Sprintf("stroke=\"%s\" stroke-width=\"3\"", shade)
	if p.net.Links[id/2].Down {
		style = "stroke=\"#0072b2\" stroke-width=\"3\" stroke-dasharray=\"6 4\""
		title = name + ": down"
	}
	fmt.Fprintf(p, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s><title>%s</title></line>\n",
		x1, y1, x2, y2, style, title)
}
