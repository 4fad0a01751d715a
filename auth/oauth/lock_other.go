//go:build !unix && !windows

package oauth

import (
	"fmt"
	"os"
	"runtime"
)

// tryLock is there for systems without locks of files, where stores cannot be shared.
func tryLock(*os.File) (locked bool, err error) {
	return false, fmt.Errorf("%s has no locks of files: use another store", runtime.GOOS)
}
