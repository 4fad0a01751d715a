package mcp

// Task is the state of a request that runs as a task. The core tasks described
// here belong to one of the older revisions; the stateless revision has an
// extension of another shape instead.
type Task struct {
	// TaskID names the task.
	TaskID string `json:"taskId"`
	// Status is how far it is.
	Status TaskStatus `json:"status"`
	// StatusMessage tells people more about the status.
	StatusMessage string `json:"statusMessage,omitzero"`
	// CreatedAt is when the task was made, in ISO 8601.
	CreatedAt string `json:"createdAt"`
	// LastUpdatedAt is when the status changed last, in ISO 8601.
	LastUpdatedAt string `json:"lastUpdatedAt"`
	// TTL is how long the task is kept after it was made, in milliseconds; nil
	// means without limit and is written as null.
	TTL *int64 `json:"ttl"`
	// PollInterval is how long to wait before asking again, in milliseconds; nil
	// leaves it to the requester.
	PollInterval *int64 `json:"pollInterval,omitzero"`
}

// TaskStatus is how far a task is.
type TaskStatus string

// The states of a task.
const (
	// TaskWorking means that it runs.
	TaskWorking TaskStatus = "working"
	// TaskInputRequired means that it waits for something from the requester.
	TaskInputRequired TaskStatus = "input_required"
	// TaskCompleted means that it has a result.
	TaskCompleted TaskStatus = "completed"
	// TaskFailed means that it has an error.
	TaskFailed TaskStatus = "failed"
	// TaskCancelled means that it was given up.
	TaskCancelled TaskStatus = "cancelled"
)

// Terminal reports whether the status cannot change any more.
func (s TaskStatus) Terminal() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// TaskMetadata asks to run a request as a task.
type TaskMetadata struct {
	// TTL is how long to keep the task, in milliseconds; nil leaves it to the
	// receiver.
	TTL *int64 `json:"ttl,omitzero"`
}

// RelatedTask names the task that a message belongs to, under MetaRelatedTask.
type RelatedTask struct {
	// TaskID names the task.
	TaskID string `json:"taskId"`
}

// CreateTaskResult answers a request that now runs as a task.
type CreateTaskResult struct {
	Result
	// Task is the new task.
	Task Task `json:"task"`
}

// TaskParams are the parameters of tasks/get, tasks/result and tasks/cancel.
type TaskParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// TaskID names the task.
	TaskID string `json:"taskId"`
}

// TaskResult is the result of tasks/get and tasks/cancel: the task as it is. The
// result of tasks/result is that of the request that became the task.
type TaskResult struct {
	Result
	Task
}

// ListTasksParams are the parameters of tasks/list.
type ListTasksParams = PageParams

// ListTasksResult is the result of tasks/list.
type ListTasksResult struct {
	Result
	// Tasks is one page of tasks; nil is written as [].
	Tasks []Task `json:"tasks"`
	// NextCursor asks for the next page; nil means that this is the last one.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// TaskStatusParams are the parameters of notifications/tasks/status.
type TaskStatusParams struct {
	// Meta is the metadata of the notification; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	Task
}
