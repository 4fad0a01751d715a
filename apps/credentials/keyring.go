package credentials

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/zalando/go-keyring"
)

// The variable that turns the keyring off.
const (
	keyringVariable = "FERRY_KEYRING"
	keyringOff      = "off"
)

// ErrNone is returned by a Keyring that has no secret yet.
var ErrNone = errors.New("the keyring has no key for credentials")

// A Keyring keeps one secret text for this user and program. Its methods may block
// for as long as they like; nobody waits for them for ever.
type Keyring interface {
	Get() (string, error)
	Set(secret string) error
}

// System is the keyring of the system: that of the desktop, the Keychain or the
// Credential Manager.
type System struct{}

// The name of our one entry.
const (
	service = "ferry"
	entry   = "credentials key"
)

// Get implements Keyring.
func (System) Get() (string, error) {
	if err := reachable(); err != nil {
		return "", err
	}
	secret, err := keyring.Get(service, entry)
	if errors.Is(err, keyring.ErrNotFound) {
		return "", ErrNone
	}
	return secret, err
}

// Set implements Keyring.
func (System) Set(secret string) error {
	if err := reachable(); err != nil {
		return err
	}
	return keyring.Set(service, entry, secret)
}

// reachable reports whether there is a keyring that can be asked. Without the bus of
// a desktop one would be started, for nobody.
func reachable() error {
	switch runtime.GOOS {
	case "darwin", "windows":
		return nil
	}
	if bus := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); bus != "" && !strings.HasPrefix(bus, "autolaunch:") {
		return nil
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "bus")); err == nil { //nolint:gosec // the user's own environment says where to look
			return nil
		}
	}
	return errors.New("this machine has no keyring")
}
