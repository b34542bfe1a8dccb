package perf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"weft/internal/launch"
)

// ends returns where the two ends of a peer's measurement run: on two hosts of the lab that this process runs in,
// otherwise on this host.
func ends() (here, there launch.Host, err error) {
	hosts, err := launch.LabHosts()
	if err == nil && len(hosts) >= 2 {
		return hosts[0], hosts[1], nil
	}
	local := launch.Host{Address: "127.0.0.1", Interface: "lo"}
	return local, local, err
}

// eachSize measures every size between an address of the other host and this one, with a free port for each.
func eachSize(s Spec, measure func(size int, address, port string) (Sample, error)) (samples []Sample, err error) {
	_, there, err := ends()
	for i := 0; err == nil && i < len(s.Sizes); i++ {
		var port int
		if port, err = freePort(); err != nil {
			break
		}
		var sample Sample
		if sample, err = measure(s.Sizes[i], there.Address, strconv.Itoa(port)); err == nil {
			samples = append(samples, sample)
		}
	}
	return samples, err
}

// talk runs a server on the other host, and a client here again and again until the server listens: until the
// client succeeds and prints want. It returns what the client printed.
func talk(ctx context.Context, want string, server, client []string, env ...string) ([]byte, error) {
	here, there, err := ends()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s := exec.CommandContext(ctx, server[0], server[1:]...)
	s.Env = append(os.Environ(), env...)
	if err := there.Start(s); err != nil {
		return nil, err
	}
	defer func() {
		_ = s.Process.Kill()
		_ = s.Wait()
	}()
	for ctx.Err() == nil {
		c := exec.CommandContext(ctx, client[0], client[1:]...)
		c.Env = append(os.Environ(), env...)
		var out, errs bytes.Buffer
		c.Stdout = &out
		c.Stderr = &errs
		if err = here.Start(c); err == nil {
			err = c.Wait()
		}
		if err == nil && bytes.Contains(out.Bytes(), []byte(want)) {
			return out.Bytes(), nil
		}
		if err == nil {
			err = fmt.Errorf("%q is not in %q", want, out.Bytes())
		}
		err = fmt.Errorf("%s: %w: %s", client[0], err, strings.TrimSpace(errs.String()))
		time.Sleep(50 * time.Millisecond) // the server does not listen yet
	}
	return nil, errors.Join(ctx.Err(), err)
}
