// Package unplaced has no rule.
package unplaced

import _ "unsafe"
