// Package interop tests Ferry against implementations that others have written:
// the official packages for TypeScript, of both generations, and for Go, and
// mcp-go, each as clients of our server and as servers of our client, and servers
// that people run every day, alone and behind the gateway. It holds nothing but
// tests and the programs that they run.
//
// The tests need node and the packages of package.json, so they skip unless
// FERRY_INTEROP=1 is set; scripts/interop.sh, which "make interop" calls, installs
// the packages and sets it. What they find is written down in docs/interop.md,
// which a whole run compares with its results; go test -update writes it anew. One
// more needs Chromium: the login of ferry in a browser, which skips without.
//
// A server of these tests, whoever has made it, offers what everything offers. A
// client, whoever has made it, goes through all of it and reports what it saw, one
// short text for each step (js/report.mjs, package tour and report_test.go). The tests compare
// the reports with the expected one (expect_test.go), where deviations of the
// packages are listed with the reason.
package interop
