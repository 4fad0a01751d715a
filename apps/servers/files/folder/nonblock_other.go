//go:build !unix

package folder

// nonblocking is for systems whose folders hold no pipes.
const nonblocking = 0
