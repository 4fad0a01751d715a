package archtest_test

import "github.com/ferrymcp/ferry/internal/archtest"

// exceptions are the places that may break a rule. Each says why the rule does
// not fit there; "it was easier" is no reason. An entry that is no longer needed
// fails the test.
var exceptions = []archtest.Exception{}
