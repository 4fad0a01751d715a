package main

import (
	"context"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/ext/skills"
)

// listSkills lists skills, and reads nothing.
func listSkills(ctx context.Context, sess *client.Session) error {
	for _, err := range skills.List(ctx, sess) {
		if err != nil {
			return err
		}
	}
	return nil
}

// loadSkills reads all files of all skills, as long as they are what is listed.
func loadSkills(ctx context.Context, sess *client.Session) error {
	for skill, err := range skills.List(ctx, sess) {
		if err != nil {
			return err
		}
		if _, err := skills.Read(ctx, sess, skill, skill.URI, nil); err != nil {
			return err
		}
		for _, file := range skill.Files {
			if _, err := skills.Read(ctx, sess, skill, file.URI, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
