package fetch_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// names are the name servers that tests run.
var names sync.WaitGroup

// answer is a name server on a stream: every name is this machine.
func answer(conn net.Conn) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
			return
		}
		q := m.Questions[0]
		m.Response, m.Additionals = true, nil
		head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 0}
		switch q.Type {
		case dnsmessage.TypeA:
			m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
		case dnsmessage.TypeAAAA:
			m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: [16]byte{15: 1}}}}
		}
		reply, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}
