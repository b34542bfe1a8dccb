package wire

// Take parses a frame and hands it to the function that handles it, with its sender. A frame that cannot be parsed is
// refused with an error.
func Take[S, F any](from S, frame []byte, parse func([]byte) (F, error), handle func(S, F)) error {
	f, err := parse(frame)
	if err == nil {
		handle(from, f)
	}
	return err
}

// TakeLoaded is Take for a frame with a payload, which is part of the frame.
func TakeLoaded[S, F any](from S, frame []byte, parse func([]byte) (F, []byte, error),
	handle func(S, F, []byte)) error {
	f, payload, err := parse(frame)
	if err == nil {
		handle(from, f, payload)
	}
	return err
}
