# An image that holds one program, and nothing else:
#
#	docker build --build-arg PROGRAM=./examples/nas/is -t registry.example/is:1 .
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG PROGRAM=./examples/hello
RUN CGO_ENABLED=0 go build -o /program "$PROGRAM"

FROM scratch
COPY --from=build /program /program
USER 65532:65532
ENTRYPOINT ["/program"]
