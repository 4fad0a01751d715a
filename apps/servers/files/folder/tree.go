package folder

import (
	"context"
	"io/fs"
	"path"
)

// A Node is a file or folder with what is in it.
type Node struct {
	Name string `json:"name"`
	Type string `json:"type"` // file, directory, link, or another kind of file
	// Children is nil for everything but folders.
	Children *[]*Node `json:"children,omitempty"`
}

// Tree gives what is in a folder and below it, and how much was left out.
func (f *Folder) Tree(ctx context.Context, name string, exclude []string) (nodes []*Node, more int, cut Cut, err error) {
	rel, err := f.relative(name)
	if err != nil {
		return nil, 0, "", err
	}
	nodes = []*Node{}
	lists := map[string]*[]*Node{".": &nodes}
	count := 0
	cut, err = f.walk(ctx, rel, exclude, func(name string, e Entry) error {
		list, ok := lists[path.Dir(name)]
		if count++; !ok || count > f.limits.Results {
			more++
			return nil
		}
		node := &Node{Name: visible(e.Name), Type: Kind(e.Type)}
		if e.Type.IsDir() {
			node.Children = &[]*Node{}
			lists[name] = node.Children
		}
		*list = append(*list, node)
		return nil
	})
	return nodes, more, cut, err
}

// Kind names the kind of a file.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	}
	return special(mode)
}
