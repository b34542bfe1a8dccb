// Package tracing carries the context of OpenTelemetry, a span and its baggage, from the process that dials a stream to
// the process that accepts it, for protocols that have no headers. The context belongs to the connection: a protocol
// with headers, such as gRPC, carries one for each request without this package.
package tracing

import (
	"context"
	"encoding/json"
	"net"

	"go.opentelemetry.io/otel/propagation"

	"weft/stream"
)

// Inject returns a context for stream.Dial that hands what p injects of ctx to the listener.
func Inject(ctx context.Context, p propagation.TextMapPropagator) (context.Context, error) {
	carrier := propagation.MapCarrier{}
	p.Inject(ctx, carrier)
	b, err := json.Marshal(carrier)
	if err != nil {
		return nil, err
	}
	return stream.WithMetadata(ctx, b), nil
}

// Extract returns ctx with what Inject had put into the context with which a connection was dialled. What a peer sends
// that is nothing of the kind is left out: a trace is not worth the connection.
func Extract(ctx context.Context, p propagation.TextMapPropagator, c net.Conn) context.Context {
	s, ok := c.(interface{ Metadata() []byte })
	if !ok || len(s.Metadata()) == 0 {
		return ctx
	}
	return extract(ctx, p, s.Metadata())
}

func extract(ctx context.Context, p propagation.TextMapPropagator, b []byte) context.Context {
	carrier := propagation.MapCarrier{}
	if json.Unmarshal(b, &carrier) != nil {
		return ctx
	}
	return p.Extract(ctx, carrier)
}
