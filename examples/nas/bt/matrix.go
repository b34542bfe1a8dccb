package main

import "weft/examples/nas/cfd"

// A matrix is how the five quantities of one point depend on those of another.
type (
	matrix [5]row
	row    [5]float64
)

// take takes a times b from m.
func (m *matrix) take(a, b *matrix) {
	for i := range m {
		r := &m[i]
		x := &a[i]
		r[0] -= x[0]*b[0][0] + x[1]*b[1][0] + x[2]*b[2][0] + x[3]*b[3][0] + x[4]*b[4][0]
		r[1] -= x[0]*b[0][1] + x[1]*b[1][1] + x[2]*b[2][1] + x[3]*b[3][1] + x[4]*b[4][1]
		r[2] -= x[0]*b[0][2] + x[1]*b[1][2] + x[2]*b[2][2] + x[3]*b[3][2] + x[4]*b[4][2]
		r[3] -= x[0]*b[0][3] + x[1]*b[1][3] + x[2]*b[2][3] + x[3]*b[3][3] + x[4]*b[4][3]
		r[4] -= x[0]*b[0][4] + x[1]*b[1][4] + x[2]*b[2][4] + x[3]*b[3][4] + x[4]*b[4][4]
	}
}

// takeFrom takes m times u from v.
func (m *matrix) takeFrom(v, u *cfd.State) {
	for i := range m {
		r := &m[i]
		v[i] -= r[0]*u[0] + r[1]*u[1] + r[2]*u[2] + r[3]*u[3] + r[4]*u[4]
	}
}

// divide divides a and v by m, which it destroys: Gaussian elimination, without
// pivots, as the diagonal is heavy.
func (m *matrix) divide(a *matrix, v *cfd.State) {
	for p := range m {
		scale := 1 / m[p][p]
		m[p].scale(scale)
		a[p].scale(scale)
		v[p] *= scale
		for i := p + 1; i < 5; i++ {
			f := m[i][p]
			for j := p + 1; j < 5; j++ {
				m[i][j] -= f * m[p][j]
			}
			a[i].take(f, &a[p])
			v[i] -= f * v[p]
		}
	}
	for p := 4; p > 0; p-- {
		for i := range p {
			f := m[i][p]
			a[i].take(f, &a[p])
			v[i] -= f * v[p]
		}
	}
}

// take takes f times x from r.
func (r *row) take(f float64, x *row) {
	r[0] -= f * x[0]
	r[1] -= f * x[1]
	r[2] -= f * x[2]
	r[3] -= f * x[3]
	r[4] -= f * x[4]
}

// scale multiplies r by f.
func (r *row) scale(f float64) {
	r[0] *= f
	r[1] *= f
	r[2] *= f
	r[3] *= f
	r[4] *= f
}

func (m *matrix) pack(buf []float64) []float64 {
	for i := range m {
		buf = buf[copy(buf, m[i][:]):]
	}
	return buf
}

func (m *matrix) unpack(buf []float64) []float64 {
	for i := range m {
		buf = buf[copy(m[i][:], buf):]
	}
	return buf
}
