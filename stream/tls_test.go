package stream

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"weft/internal/waittest"
)

// authority makes certificates for 127.0.0.1.
type authority struct {
	issued int64 // certificates
	cert   *x509.Certificate
	key    ed25519.PrivateKey
	pool   *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	a := &authority{pool: x509.NewCertPool()}
	own := a.issue(t)
	a.cert, _ = x509.ParseCertificate(own.Certificate[0])
	a.key = own.PrivateKey.(ed25519.PrivateKey)
	a.pool.AddCert(a.cert)
	return a
}

// issue makes a certificate: the first is the authority's own.
func (a *authority) issue(t *testing.T) tls.Certificate {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.issued++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.issued), NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: a.cert == nil, BasicConstraintsValid: true,
	}
	parent := template
	signer := private
	if a.cert != nil {
		parent = a.cert
		signer = a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

// secrets are ways to encrypt: the listener's Config, and the dialler's.
func secrets(t *testing.T) map[string][2]*Config {
	key := &Config{Key: noise(MinKey)}
	a := newAuthority(t)
	return map[string][2]*Config{
		"key": {key, key},
		"certificates": {
			{TLS: &tls.Config{Certificates: []tls.Certificate{a.issue(t)}, ClientAuth: tls.RequireAndVerifyClientCert,
				ClientCAs: a.pool}},
			{TLS: &tls.Config{Certificates: []tls.Certificate{a.issue(t)}, RootCAs: a.pool}},
		},
	}
}

// pairTLS returns both ends of a connection over TCP.
func pairTLS(t testing.TB, cfgs [2]*Config) (dialled, accepted *TLSConn) {
	t.Helper()
	l, err := cfgs[0].Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return connect(t, l, func() (*TLSConn, error) { return cfgs[1].dialTLS(within(t), l.Addr().String()) })
}

func TestTLSConn(t *testing.T) {
	for name, cfgs := range secrets(t) {
		t.Run(name, func(t *testing.T) {
			testConn(t, func() (dialled, accepted *TLSConn) { return pairTLS(t, cfgs) })
		})
	}
}

// Writes that a deadline has ended in the middle lose nothing of what they said was written, and
// the connection goes on; Close does not cut off what is on its way.
func TestTLSDeadlines(t *testing.T) {
	cfgs := secrets(t)["key"]
	c1, c2 := pairTLS(t, cfgs)
	data := noise(8 << 20)
	sent := 0
	for sent < len(data) {
		c1.SetWriteDeadline(waittest.Soon())
		n, err := c1.Write(data[sent:])
		sent += n
		if err != nil && !isTimeout(err) {
			t.Fatal(err)
		}
		if err != nil { // nobody reads: now somebody does, for a while
			if _, err := io.CopyN(io.Discard, c2, 0); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	got := make(chan []byte)
	go func() {
		b, err := io.ReadAll(c2)
		if err != nil {
			t.Error(err)
		}
		got <- b
	}()
	for sent < len(data) {
		c1.SetWriteDeadline(waittest.Soon())
		n, err := c1.Write(data[sent:])
		sent += n
		if err != nil && !isTimeout(err) {
			t.Fatal(err)
		}
	}
	c1.SetWriteDeadline(time.Time{})
	if err := c1.Close(); err != nil {
		t.Error(err)
	}
	if b := <-got; !bytes.Equal(b, data) {
		t.Errorf("%d of %d bytes have come, or others", len(b), len(data))
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// Each direction ends for itself; Close ends calls that wait, and the peer reads what was written
// although this side has not read all.
func TestTLSCloses(t *testing.T) {
	cfgs := secrets(t)["certificates"]
	c1, c2 := pairTLS(t, cfgs)
	if len(c2.State().PeerCertificates) != 1 || c1.State().Version != tls.VersionTLS13 {
		t.Errorf("%+v", c2.State())
	}
	if c1.RemoteAddr().String() != c2.LocalAddr().String() {
		t.Errorf("%v %v", c1.RemoteAddr(), c2.LocalAddr())
	}
	if err := c1.CloseWrite(); err != nil {
		t.Error(err)
	}
	if _, err := c1.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("Write after CloseWrite: %v", err)
	}
	if b, err := io.ReadAll(c2); len(b) != 0 || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	c2.Write([]byte("still open"))
	b := make([]byte, 10)
	if _, err := io.ReadFull(c1, b); err != nil || string(b) != "still open" {
		t.Errorf("%q, %v", b, err)
	}
	reads := make(chan error)
	go func() {
		_, err := c1.Read(make([]byte, 1))
		reads <- err
	}()
	c1.CloseRead()
	if err := <-reads; err != io.EOF {
		t.Errorf("a Read that waits while CloseRead is called: %v", err)
	}
	c1, _ = pairTLS(t, cfgs)
	go func() {
		_, err := c1.Read(make([]byte, 1))
		reads <- err
	}()
	go func() {
		_, err := c1.Write(make([]byte, 64<<20))
		reads <- err
	}()
	c1.Close()
	for range 2 {
		if err := <-reads; !errors.Is(err, net.ErrClosed) {
			t.Errorf("a call that waits while Close is called: %v", err)
		}
	}
	for _, err := range []error{c1.Close(), c1.SetDeadline(time.Time{}), c1.CloseRead(), c1.CloseWrite()} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	c1, c2 = pairTLS(t, cfgs)
	c1.Write(make([]byte, 1000)) // which c2 does not read
	last := noise(512 << 10)
	if _, err := c2.Write(last); err != nil { // more than c1's kernel takes: some of it is still here
		t.Fatal(err)
	}
	c2.Close()
	if b, err := io.ReadAll(c1); err != nil || !bytes.Equal(b, last) {
		t.Errorf("%d of %d bytes, %v", len(b), len(last), err)
	}
}

// A connection that is cut, by a death or by somebody on the path, is never taken for one that has ended.
func TestTLSCut(t *testing.T) {
	c1, c2 := pairTLS(t, secrets(t)["key"])
	c1.Write([]byte("half of it"))
	c1.records.TCPConn.CloseWrite() // what the kernel does for the dead
	if b, err := io.ReadAll(c2); string(b) != "half of it" || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %q, and then %v", b, err)
	}
}

// Nothing is ever sent open, nor under a key that could be guessed.
func TestNeverOpen(t *testing.T) {
	both := &Config{Key: noise(MinKey), TLS: new(tls.Config)}
	for name, cfg := range map[string]*Config{"no word": {}, "a short key": {Key: []byte("open sesame")}, "both": both} {
		if _, err := cfg.Listen(t.Context(), "127.0.0.1:0"); err == nil || name == "no word" && !errors.Is(err, ErrInsecure) {
			t.Errorf("%s: Listen: %v", name, err)
		}
		if _, err := cfg.Dial(t.Context(), "127.0.0.1:1"); err == nil || name == "no word" && !errors.Is(err, ErrInsecure) {
			t.Errorf("%s: Dial: %v", name, err)
		}
	}
	old := &tls.Config{MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}
	if _, err := (&Config{TLS: old}).Dial(t.Context(), "127.0.0.1:1"); err == nil {
		t.Error("TLS 1.2 is spoken")
	}
}

// What is a path, and what a host and a port.
func TestAddressKinds(t *testing.T) {
	for address, want := range map[string]bool{
		"localhost:80": true, "10.0.0.1:7": true, "[::1]:7": true, ":7": true,
		"/run/app.sock": false, "@name:1": false, "./a:1": false, "app.sock": false, "a/b:7": false, "": false,
	} {
		if remote(address) != want {
			t.Errorf("%q: %v", address, !want)
		}
	}
}

// Strangers are refused, whatever they know and say, and the listener goes on: with another key,
// certificates of somebody else's authority, none, no TLS, an older one, or nothing at all to say.
func TestTLSStrangers(t *testing.T) {
	keys := secrets(t)["key"]
	certs := secrets(t)["certificates"]
	other := newAuthority(t)
	for name, c := range map[string]struct{ listens, dials *Config }{
		"another key":      {keys[0], &Config{Key: noise(MinKey + 1)}},
		"a key's listener": {&Config{Key: noise(MinKey + 1)}, keys[1]},
		"another's certificate": {certs[0], &Config{TLS: &tls.Config{Certificates: []tls.Certificate{other.issue(t)},
			RootCAs: certs[1].TLS.RootCAs}}},
		"no certificate": {certs[0], &Config{TLS: &tls.Config{RootCAs: certs[1].TLS.RootCAs}}},
		"another's listener": {certs[0], &Config{TLS: &tls.Config{Certificates: certs[1].TLS.Certificates,
			RootCAs: other.pool}}},
		"a certificate for a key": {keys[0], &Config{TLS: &tls.Config{
			Certificates: []tls.Certificate{other.issue(t)}, InsecureSkipVerify: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := c.listens.Listen(t.Context(), "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if _, err := c.dials.Dial(within(t), l.Addr().String()); !errors.Is(err, ErrRefused) {
				t.Errorf("Dial: %v", err)
			}
		})
	}
	l, err := keys[0].Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, say := range []string{"", "\x16", "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		strings.Repeat("\x16\x03\x01\xff\xff", 10000)} {
		s, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() // some stay half open
		io.WriteString(s, say)
	}
	for range 4 * defaultBacklog { // more than may be under way
		s, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	d, err := keys[1].Dial(within(t), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer c.Close()
		io.Copy(c, c)
	}()
	echo(t, d)
	door := &l.(*TLSListener).door
	if door.Dropped.Load() == 0 {
		t.Error("nobody had to make room")
	}
}

// A listener that does not speak TLS, or is not weft's, is refused.
func TestTLSWrongListener(t *testing.T) {
	cfgs := secrets(t)["certificates"]
	for name, say := range map[string]func(c net.Conn){
		"mail": func(c net.Conn) { io.WriteString(c, "220 mail.example.org ready\r\n") },
		"TLS": func(c net.Conn) {
			io.WriteString(tls.Server(c, cfgs[0].TLS), "220 mail.example.org ready\r\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					defer c.Close()
					say(c)
				}
			}()
			if _, err := cfgs[1].Dial(within(t), l.Addr().String()); !errors.Is(err, ErrRefused) {
				t.Errorf("Dial: %v", err)
			}
		})
	}
}
