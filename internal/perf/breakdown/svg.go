package breakdown

import (
	"bufio"
	"fmt"
	"io"
)

// colours are those of the parts, by name; they tell apart for the colour-blind.
var colours = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999", "#000000", "#8c564b", "#bcbd22"}

// WriteSVG draws a bar for each way, cut into its parts, with a mark where the
// measured time is.
func WriteSVG(w io.Writer, ways []Way) error {
	const left, wide, high, gap, top = 210.0, 640.0, 34.0, 26.0, 50.0
	most := 0.0
	for _, way := range ways {
		most = max(most, way.Sum, way.Measured)
	}
	scale := wide / most
	out := bufio.NewWriter(w)
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
	legend := top + float64(len(ways))*(high+gap) + 10
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"13\">\n",
		left+wide+90, legend+20*float64((len(names)+2)/3)+20)
	fmt.Fprintln(out, `<rect width="100%" height="100%" fill="white"/>`)
	fmt.Fprintf(out, "<text x=\"10\" y=\"24\" font-size=\"16\">Where the time of a %d-byte message goes, one way, in microseconds</text>\n", size)
	for i, way := range ways {
		x, y := left, top+float64(i)*(high+gap)
		fmt.Fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n", left-10, y+high/2+4, way.Name)
		for _, p := range way.Parts {
			width := max(p.US, 0) * scale
			fmt.Fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\"><title>%s: %.2f us</title></rect>\n",
				x, y, width, high, colour[p.Name], p.Name, p.US)
			x += width
		}
		fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.0f\">%.1f</text>\n", max(x, left+way.Measured*scale)+6, y+high/2+4, way.Sum)
		at := left + way.Measured*scale
		fmt.Fprintf(out, "<path d=\"M%.1f %.1fv%.0f\" stroke=\"black\" stroke-width=\"2\"><title>measured: %.2f us</title></path>\n", at, y-5, high+10, way.Measured)
	}
	for i, name := range names {
		x, y := 20+float64(i%3)*300, legend+20*float64(i/3)
		fmt.Fprintf(out, "<rect x=\"%.0f\" y=\"%.0f\" width=\"14\" height=\"14\" fill=\"%s\"/><text x=\"%.0f\" y=\"%.0f\">%s</text>\n",
			x, y, colour[name], x+20, y+12, name)
	}
	fmt.Fprintf(out, "<text x=\"620\" y=\"%.0f\">the line: the whole, measured</text>\n", legend+12+20*float64((len(names)-1)/3))
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}
