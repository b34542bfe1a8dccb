package tracing

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"weft/stream"
)

var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// begin returns a context with a span of a new trace, and with baggage.
func begin(t *testing.T) (context.Context, trace.SpanContext) {
	t.Helper()
	ctx, span := sdk.NewTracerProvider().Tracer("test").Start(t.Context(), "caller")
	member, err := baggage.NewMember("tenant", "seven")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	return baggage.ContextWithBaggage(ctx, bag), span.SpanContext()
}

// TestConnection: the process that accepts a connection has the span and the baggage of the process that dialled it.
func TestConnection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := stream.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, span := begin(t)
	with, err := Inject(ctx, propagator)
	if err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{with, t.Context()} {
		d, err := stream.Dial(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got := Extract(context.Background(), propagator, c)
		if ctx != with {
			if trace.SpanContextFromContext(got).IsValid() {
				t.Error("a connection without a span has one")
			}
			continue
		}
		remote := trace.SpanContextFromContext(got)
		if remote.TraceID() != span.TraceID() || remote.SpanID() != span.SpanID() || !remote.IsRemote() {
			t.Errorf("%+v arrives, and %+v was sent", remote, span)
		}
		if tenant := baggage.FromContext(got).Member("tenant").Value(); tenant != "seven" {
			t.Errorf("the baggage has %q", tenant)
		}
	}
}

// server notes the span in which each call runs.
type server struct {
	pb.UnimplementedTestServiceServer
	spans chan trace.SpanContext
}

func (s *server) EmptyCall(ctx context.Context, _ *pb.Empty) (*pb.Empty, error) {
	s.spans <- trace.SpanContextFromContext(ctx)
	return new(pb.Empty), nil
}

// TestGRPC: gRPC carries the context of each call in its own metadata, by OpenTelemetry's own handlers, over weft as
// over any connection.
func TestGRPC(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := stream.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	options := []otelgrpc.Option{
		otelgrpc.WithTracerProvider(sdk.NewTracerProvider()), otelgrpc.WithPropagators(propagator),
	}
	s := &server{spans: make(chan trace.SpanContext, 1)}
	g := grpc.NewServer(grpc.StatsHandler(otelgrpc.NewServerHandler(options...)))
	pb.RegisterTestServiceServer(g, s)
	go g.Serve(l)
	defer g.Stop()
	client, err := grpc.NewClient("passthrough:///weft", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStatsHandler(otelgrpc.NewClientHandler(options...)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return stream.Dial(ctx, path) }))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var before trace.SpanContext
	for range 2 { // two traces over one connection
		ctx, span := begin(t)
		if _, err := pb.NewTestServiceClient(client).EmptyCall(ctx, new(pb.Empty)); err != nil {
			t.Fatal(err)
		}
		at := <-s.spans
		if at.TraceID() != span.TraceID() || at.SpanID() == span.SpanID() || at.TraceID() == before.TraceID() {
			t.Errorf("the call runs in %+v, and was made in %+v", at, span)
		}
		before = at
	}
}

// FuzzExtract: whatever a peer sends, the context is used on.
func FuzzExtract(f *testing.F) {
	f.Add([]byte(`{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","baggage":"a=b"}`))
	f.Add([]byte("null"))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if extract(context.Background(), propagator, b) == nil {
			t.Error("there is no context")
		}
	})
}
