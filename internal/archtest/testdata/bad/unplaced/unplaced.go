// Package unplaced has no rule.
package unplaced
