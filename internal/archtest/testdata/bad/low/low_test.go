package low

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestSleeps(t *testing.T) {
	synctest.Test(t, func(*testing.T) { time.Sleep(time.Hour) })
	time.Sleep(1)
	go t.Log("tests may start goroutines and have long functions")
	//
	//
	//
}
