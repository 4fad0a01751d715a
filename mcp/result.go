package mcp

// Result is what every result has; all result types embed it.
type Result struct {
	// Meta is the metadata of the result; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// ResultType tells what kind of result it is, one of the Result constants or
	// a value of an extension. The stateless revision requires it and older ones
	// do not have it; "" means ResultComplete.
	ResultType string `json:"resultType,omitzero"`
}

// The values of Result.ResultType.
const (
	// ResultComplete is the answer that was asked for.
	ResultComplete = "complete"
	// ResultInputRequired is an InputRequiredResult.
	ResultInputRequired = "input_required"
	// ResultTask tells that the server made a task of the request, which takes
	// an extension.
	ResultTask = "task"
)

// Cache tells how long and for whom a result may be kept. The stateless
// revision requires both fields and older ones have neither.
type Cache struct {
	// TTLMs is how long the result is fresh, in milliseconds; nil means absent,
	// which counts as 0, as do negative values.
	TTLMs *int64 `json:"ttlMs,omitzero"`
	// CacheScope is CachePublic or CachePrivate; "" means absent, which is best
	// taken as CachePrivate.
	CacheScope string `json:"cacheScope,omitzero"`
}

// The values of Cache.CacheScope.
const (
	// CachePublic allows anyone to keep the result and serve it to others.
	CachePublic = "public"
	// CachePrivate allows keeping the result only for the same authorization.
	CachePrivate = "private"
)

// EmptyParams are the parameters of requests and notifications that have none
// besides metadata: ping, server/discover, roots/list, notifications/initialized
// and the list_changed notifications.
type EmptyParams struct {
	// Meta is the metadata of the message; nil means none.
	Meta Meta `json:"_meta,omitzero"`
}

// EmptyResult is the result of requests that only want to be acknowledged.
type EmptyResult struct {
	Result
}

// Ptr returns a pointer to a copy of v, for the fields where nil means absent.
func Ptr[T any](v T) *T { return &v }
