package main

import (
	"embed"
	"io/fs"

	"github.com/ferrymcp/ferry/ext/skills"
	"github.com/ferrymcp/ferry/server"
)

//go:embed skills
var skillFiles embed.FS

// addSkills serves two skills, one of which has a folder.
func addSkills(srv *server.Server) error {
	folder, err := fs.Sub(skillFiles, "skills")
	if err != nil {
		return err
	}
	_, err = skills.Serve(srv, folder, &skills.Options{PageSize: 1})
	return err
}
