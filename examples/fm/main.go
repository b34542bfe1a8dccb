// Fm gathers a matrix: every rank sends rows to rank 0, each as one message with a
// header that says which row it is. The handler receives the header first, and then the
// row straight into its place in the matrix, however long it is.
//
//	weft run -n 4 ./examples/fm
//	weft run -n 4 -transport udp ./examples/fm -columns 3000
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"

	"weft"
	"weft/fm"
)

func main() {
	rows := flag.Int("rows", 200, "rows of the matrix")
	columns := flag.Int("columns", 20000, "columns, of one byte each")
	flag.Parse()
	weft.Main(func(ctx context.Context, p *weft.Proc) error { return gather(ctx, p, os.Stdout, *rows, *columns) })
}

const headerSize = 4 // the number of the row

// A matrix is what is gathered.
type matrix struct {
	rows [][]byte
	have int
}

// onRow receives a row. It is suspended while the row is on its way, and rows of other
// ranks come meanwhile.
func (x *matrix) onRow(m *fm.Message) error {
	var header [headerSize]byte
	if _, err := m.Receive(header[:]); err != nil {
		return err
	}
	row := binary.LittleEndian.Uint32(header[:])
	if row >= uint32(len(x.rows)) || m.Length-headerSize > len(x.rows[row]) {
		return fmt.Errorf("row %d of %d bytes is not in the matrix", row, m.Length-headerSize)
	}
	if _, err := m.Receive(x.rows[row][:m.Length-headerSize]); err != nil {
		return err
	}
	x.have++
	return nil
}

// send sends a row: the header is one piece, the row another.
func send(ctx context.Context, e *fm.Endpoint, number int, row []byte) error {
	s, err := e.BeginMessageWait(ctx, 0, headerSize+len(row), 0)
	if err != nil {
		return err
	}
	var header [headerSize]byte
	binary.LittleEndian.PutUint32(header[:], uint32(number))
	if err := s.SendPiece(ctx, header[:]); err != nil {
		return err
	}
	if err := s.SendPiece(ctx, row); err != nil {
		return err
	}
	return s.EndMessage(ctx)
}

// cell is what the matrix has in a place.
func cell(row, column int) byte { return byte(row*31 + column*7) }

func gather(ctx context.Context, p *weft.Proc, out io.Writer, rows, columns int) error {
	x := &matrix{}
	e, err := fm.Open(ctx, p, 1, []fm.Handler{{Name: "row", Func: x.onRow}}, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	if p.Rank() == 0 {
		x.rows = make([][]byte, rows)
		for i := range x.rows {
			x.rows[i] = make([]byte, columns)
		}
	}
	if err := e.Barrier(ctx); err != nil { // rank 0 has room
		return err
	}
	for i := range rows {
		row := make([]byte, columns)
		for j := range row {
			row[j] = cell(i, j)
		}
		switch owner := i % p.Size(); {
		case owner != p.Rank():
		case owner == 0:
			copy(x.rows[i], row)
			x.have++
		default:
			if err := send(ctx, e, i, row); err != nil {
				return err
			}
		}
	}
	if err := e.Barrier(ctx); err != nil || p.Rank() != 0 { // all rows have come
		return err
	}
	for i, row := range x.rows {
		for j, v := range row {
			if v != cell(i, j) {
				return fmt.Errorf("row %d, column %d is %d, not %d", i, j, v, cell(i, j))
			}
		}
	}
	s := e.Stats()
	_, err = fmt.Fprintf(out, "%d rows of %d bytes from %d ranks, in place; handlers were suspended %d times\n", x.have,
		columns, p.Size(), s.Suspensions)
	return err
}
