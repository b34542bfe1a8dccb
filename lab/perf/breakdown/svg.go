package breakdown

import (
	"bufio"
	"fmt"
	"html"
	"io"
)

// colours distinguish the parts: the palette of Okabe and Ito, which colour-blind readers can tell apart, and
// then darker ones.
var colours = []string{
	"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999", "#000000",
	"#8c564b", "#5b3a8e",
}

// The layout of a picture, in pixels.
const (
	svgLeft   = 210.0 // where the bars begin
	svgWidth  = 640.0 // of the longest bar
	svgHeight = 34.0  // of a bar
	svgGap    = 26.0  // between bars
	svgTop    = 50.0
)

// WriteSVG draws a bar for each path, cut into its parts, and a mark at the measured time of the whole.
func WriteSVG(w io.Writer, title string, ways []Way) error {
	most := 0.0
	for _, way := range ways {
		most = max(most, way.Sum, way.Measured)
	}
	scale := svgWidth / most
	colour := map[string]string{}
	var names []string
	for _, way := range ways {
		for _, p := range way.Parts {
			if colour[p.Name] == "" {
				colour[p.Name] = colours[len(names)%len(colours)]
				names = append(names, p.Name)
			}
		}
	}
	legend := svgTop + float64(len(ways))*(svgHeight+svgGap) + 10
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "+
		"font-family=\"Arial,Helvetica,sans-serif\" font-size=\"13\">\n",
		svgLeft+svgWidth+90, legend+20*float64((len(names)+2)/3)+40)
	fmt.Fprintln(out, `<rect width="100%" height="100%" fill="white"/>`) // readable in dark mode, too
	fmt.Fprintf(out, "<text x=\"10\" y=\"24\" font-size=\"16\">%s</text>\n", html.EscapeString(title))
	for i, way := range ways {
		drawWay(out, &way, svgTop+float64(i)*(svgHeight+svgGap), scale, colour)
	}
	for i, name := range names {
		x := 20 + float64(i%3)*300
		y := legend + 20*float64(i/3)
		fmt.Fprintf(out, "<rect x=\"%.0f\" y=\"%.0f\" width=\"14\" height=\"14\" fill=\"%s\"/>"+
			"<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", x, y, colour[name], x+20, y+12, name)
	}
	fmt.Fprintf(out, "<text x=\"20\" y=\"%.0f\">The black mark is the measured time of the whole; "+
		"the number is the sum of the parts.</text>\n", legend+32+20*float64((len(names)-1)/3))
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// drawWay draws the bar of one path.
func drawWay(out io.Writer, way *Way, y, scale float64, colour map[string]string) {
	x := svgLeft
	fmt.Fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n", svgLeft-10, y+svgHeight/2+4, way.Name)
	for _, p := range way.Parts {
		width := max(p.US, 0) * scale
		fmt.Fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\">"+
			"<title>%s: %.2f µs</title></rect>\n", x, y, width, svgHeight, colour[p.Name], p.Name, p.US)
		x += width
	}
	at := svgLeft + way.Measured*scale
	fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.0f\">%.1f</text>\n", max(x, at)+6, y+svgHeight/2+4, way.Sum)
	fmt.Fprintf(out, "<path d=\"M%.1f %.1fv%.0f\" stroke=\"black\" stroke-width=\"2\">"+
		"<title>measured: %.2f µs</title></path>\n",
		at, y-5, svgHeight+10, way.Measured)
}
