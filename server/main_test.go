package server_test

import (
	"testing"

	"github.com/ferrymcp/ferry/mcptest"
)

func TestMain(m *testing.M) { mcptest.Main(m) }
