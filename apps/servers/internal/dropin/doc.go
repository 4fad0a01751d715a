// Package dropin compares a server with the one that it takes the place of: lists
// of tools and results of calls, member by member. What differs has to be on a list
// with its reason, and the list has to be in docs/servers.md.
//
// It runs the originals with node, so its tests are skipped unless
// FERRY_INTEROP=1; scripts/interop.sh installs the packages and sets it.
package dropin
