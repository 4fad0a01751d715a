package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lockWait is how long another process may hold the lock.
const lockWait = 10 * time.Second

// errLocked tells that somebody else holds a lock.
var errLocked = errors.New("locked")

// lock makes this process the only one that changes what a file protects, until
// the file is closed. The system lets go of it when the process ends, however it
// ends.
func lock(ctx context.Context, name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the memory: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait,
		fmt.Errorf("another program has held the memory's lock %s for %v: try again, or end that program", filepath.Base(name), lockWait))
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := tryLock(file)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, errors.Join(fmt.Errorf("lock the memory: %w: use a disk of this machine", err), file.Close())
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, errors.Join(context.Cause(ctx), file.Close())
		}
	}
}
