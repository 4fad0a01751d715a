// Package skills is the skills extension, io.modelcontextprotocol/skills: servers
// publish folders of instructions, each with a SKILL.md, and clients list them,
// read them when they are needed and check that they get what was announced.
//
// A server calls Serve with the folder that holds the skills. A client calls List
// or Get, shows or keeps the entries, and calls Read for one file at a time.
// Nothing is read ahead. What to tell the model of a skill, and whether its user
// agrees to it, is for the host to decide: skills are text from elsewhere, and a
// digest that is right says that the server agrees with itself, not that it can
// be trusted. A skill is known by its server and its URI together; its name is
// only a label.
//
// The extension is described at
// https://github.com/modelcontextprotocol/ext-skills and skills themselves at
// https://agentskills.io/specification.
package skills
