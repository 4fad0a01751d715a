package repo

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// passed are the variables that git gets from this process: where things are, the
// language of the system, and who commits. No other variable of git itself.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "XDG_CONFIG_HOME",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "HOMEDRIVE", "HOMEPATH",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
	"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
}

// fixed are the variables that every process gets.
var fixed = []string{
	"LC_ALL=C.UTF-8",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_ASKPASS=",
	"SSH_ASKPASS=",
	"GIT_EDITOR=:",
	"GIT_SEQUENCE_EDITOR=:",
	"GIT_PAGER=cat",
	"GIT_SSH_COMMAND=false",
	// There is no network: a repository could name a program as its transport.
	"GIT_ALLOW_PROTOCOL=none",
	"GIT_PROTOCOL_FROM_USER=0",
	"GIT_NO_LAZY_FETCH=1",
}

// environment returns the environment of a process.
func environment(own []string) []string {
	env := slices.Clone(fixed)
	for _, entry := range own {
		name, _, _ := strings.Cut(entry, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if slices.Contains(passed, name) {
			env = append(env, entry)
		}
	}
	return env
}

// A setting is a value of git's configuration.
type setting struct{ key, value string }

// overrides are settings that no repository can change: what would run a program,
// or make what git prints something that others cannot read.
var overrides = []setting{
	{"core.hooksPath", nowhere},
	{"core.fsmonitor", "false"},
	{"core.pager", "cat"},
	{"core.editor", ":"},
	{"sequence.editor", ":"},
	{"core.askPass", ""},
	{"core.sshCommand", "false"},
	{"core.gitProxy", ""},
	{"credential.helper", ""},
	{"protocol.allow", "never"},
	{"protocol.ext.allow", "never"},
	{"protocol.file.allow", "never"},
	{"commit.gpgSign", "false"},
	{"log.showSignature", "false"},
	{"gpg.program", "false"},
	{"interactive.diffFilter", ""},
	{"submodule.recurse", "false"},
	{"diff.ignoreSubmodules", "dirty"},
	{"status.submoduleSummary", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"color.ui", "false"},
	{"column.ui", "never"},
	{"i18n.commitEncoding", "UTF-8"},
	{"i18n.logOutputEncoding", "UTF-8"},
}

// drivers are the settings that programs of a name have, by kind, with what turns
// them off. The name is the repository's, so they are not known before.
var drivers = map[string][]setting{
	"filter": {{"clean", ""}, {"smudge", ""}, {"process", ""}, {"required", "false"}},
	"hook":   {{"enabled", "false"}, {"command", "false"}},
}

// settings returns settings as variables. In these, unlike in options, a name may
// hold any sign.
func settings(list []setting) []string {
	env := make([]string, 0, 2*len(list)+1)
	env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(list)))
	for i, s := range list {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.value))
	}
	return env
}
