package main

import (
	"os"
	"testing"

	"weft/lab/perf/services"
)

func TestMain(m *testing.M) {
	services.Add(grpcProtocol, drpcProtocol)
	if services.Server() {
		return
	}
	os.Exit(m.Run())
}

// gRPC and DRPC are measured over every system.
func TestCallsAreMeasured(t *testing.T) {
	for _, r := range services.Run(t.Context(), services.Spec{
		Systems: services.Systems, Protocols: []string{"grpc", "drpc"}, Connections: []int{1, 5}, Requests: 20, Rounds: 1,
	}, func(int, string) {}) {
		if r.Error != "" || r.P50 <= 0 || r.Requests < 15 {
			t.Errorf("%+v", r)
		}
	}
}
