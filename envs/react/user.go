package react

// UserTask is a task that a user brought.
type UserTask struct {
	id      string
	problem problem
}
