package revision

// A Feature is something some revisions have and others do not. Features are
// bits, so that several can be asked for at once.
type Feature uint32

// The features.
const (
	// Batches: a frame may be an array of messages.
	Batches Feature = 1 << iota
	// VersionHeader: HTTP requests name the revision in a header.
	VersionHeader
	// ServerRequests: the server may send requests to the client.
	ServerRequests
	// NotFoundCode: an unknown resource has an error code of its own.
	NotFoundCode
	// ObjectOutput: structured tool output is allowed, as an object.
	ObjectOutput
	// AnyOutput: structured tool output may be any JSON value.
	AnyOutput
	// ResumableStreams: events over HTTP have ids, with which a client that
	// has lost a stream asks for what came after.
	ResumableStreams
	// PolledStreams: event streams open with an id, and the server may close
	// the connection before the response; the client comes back for it.
	PolledStreams
	// Elicitation: servers may ask the user for input.
	Elicitation
	// URLElicitation: servers may send the user to a URL.
	URLElicitation
	// FormLists: forms have lists of choices, titles and defaults of all kinds.
	FormLists
	// SamplingAudio: messages to and from a model may be sound.
	SamplingAudio
	// CoreTasks: tasks are part of the core protocol.
	CoreTasks
	// SamplingTools: servers may give tools to the client's model, and what a
	// model says may be several blocks.
	SamplingTools
)
