package archtest_test

import "github.com/ferrymcp/ferry/internal/archtest"

// exceptions are the places that may break a rule. Each says why the rule does
// not fit there; "it was easier" is no reason. An entry that is no longer needed
// fails the test.
var exceptions = []archtest.Exception{
	{
		What:  "imports",
		Where: "mcptest -> internal/trace",
		Why:   "what tests of all modules prove is recorded by one package, and they reach it through mcptest.Proves",
	},
	{
		What:  "unsafe",
		Where: "internal/json/members.go",
		Why: "names and ids of a message alias the frame they came in, so decoding allocates nothing " +
			"for them; nobody writes to a frame after it was read",
	},
	{
		What:  "unsafe",
		Where: "transport/group_windows.go",
		Why:   "the Windows calls for job objects take a structure by address and size",
	},
}
