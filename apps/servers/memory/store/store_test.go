package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/apps/servers/memory/graph"
	"github.com/ferrymcp/ferry/apps/servers/memory/store"
)

// open opens a store: a database if the name ends with .db.
func open(ctx context.Context, name string) (store.Store, error) {
	if strings.HasSuffix(name, ".db") {
		return store.OpenDatabase(ctx, name)
	}
	return store.OpenFile(name)
}

func opened(t *testing.T, name string) store.Store {
	t.Helper()
	s, err := open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// both runs a test with each kind of store.
func both(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range []string{"memory.jsonl", "memory.db"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, filepath.Join(t.TempDir(), "some", "folder", name))
		})
	}
}

func check[T any](t *testing.T, what string, got T, err error, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s: error %v (-want +got):\n%s", what, err, diff)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		ctx := t.Context()
		s, other := opened(t, name), opened(t, name)
		if got := s.Path(); got != name {
			t.Errorf("Path: got %s, want %s", got, name)
		}
		empty := graph.Graph{Entities: []graph.Entity{}, Relations: []graph.Relation{}}
		g, err := s.Read(ctx)
		check(t, "Read at first", g, err, empty)
		ada := graph.Entity{Name: "Ada", EntityType: "person", Observations: []string{"counts <things>", "é\u2028"}}
		bob := graph.Entity{Name: "Bob", EntityType: "Robot", Observations: []string{}}
		added, err := s.CreateEntities(ctx, []graph.Entity{ada, {Name: "Ada", EntityType: "twice"}, bob})
		check(t, "CreateEntities", added, err, []graph.Entity{ada, bob})
		added, err = other.CreateEntities(ctx, []graph.Entity{{Name: "Bob", EntityType: "x"}})
		check(t, "CreateEntities again", added, err, []graph.Entity{})
		knows := graph.Relation{From: "Ada", To: "Bob", RelationType: "knows"}
		away := graph.Relation{From: "Bob", To: "Nowhere", RelationType: "goes_to"}
		relations, err := other.CreateRelations(ctx, []graph.Relation{knows, knows, away})
		check(t, "CreateRelations", relations, err, []graph.Relation{knows, away})
		results, err := s.AddObservations(ctx, []graph.Addition{{EntityName: "Bob", Contents: []string{"beeps", "beeps"}}, {EntityName: "Ada", Contents: []string{"é\u2028"}}})
		check(t, "AddObservations", results, err, []graph.Added{{EntityName: "Bob", AddedObservations: []string{"beeps"}}, {EntityName: "Ada", AddedObservations: []string{}}})
		bob.Observations = []string{"beeps"}
		if _, err := s.AddObservations(ctx, []graph.Addition{{EntityName: "Bob", Contents: []string{"lost"}}, {EntityName: "None", Contents: []string{"x"}}}); err == nil || !strings.Contains(err.Error(), "Entity with name None not found") {
			t.Errorf("AddObservations to nobody: got error %v", err)
		}
		g, err = other.Read(ctx)
		check(t, "Read", g, err, graph.Graph{Entities: []graph.Entity{ada, bob}, Relations: []graph.Relation{knows, away}})
		stamp, err := s.Stamp(ctx)
		if again, err2 := s.Stamp(ctx); again != stamp || err != nil || err2 != nil {
			t.Errorf("Stamp: got %q and %q, %v, %v", stamp, again, err, err2)
		}

		g, err = s.Search(ctx, "ROBOT")
		check(t, "Search for a type", g, err, graph.Graph{Entities: []graph.Entity{bob}, Relations: []graph.Relation{knows, away}})
		g, err = s.Search(ctx, "<th")
		check(t, "Search for a part", g, err, graph.Graph{Entities: []graph.Entity{ada}, Relations: []graph.Relation{knows}})
		g, err = s.Search(ctx, "Da")
		check(t, "Search for little", g, err, graph.Graph{Entities: []graph.Entity{ada}, Relations: []graph.Relation{knows}})
		for _, hostile := range []string{`"`, `" OR text:x`, `%`, `_`, `NEAR(a b)`, `'; DROP TABLE entity; --`, "\x00", strings.Repeat("(", 2000)} {
			g, err = s.Search(ctx, hostile)
			check(t, fmt.Sprintf("Search for %.20q", hostile), g, err, empty)
		}
		g, err = s.Open(ctx, []string{"Bob", "None", "bob"})
		check(t, "Open", g, err, graph.Graph{Entities: []graph.Entity{bob}, Relations: []graph.Relation{knows, away}})

		err = s.DeleteObservations(ctx, []graph.Deletion{{EntityName: "Ada", Observations: []string{"é\u2028", "none"}}, {EntityName: "None", Observations: []string{"x"}}})
		ada.Observations = ada.Observations[:1]
		g, err2 := other.Open(ctx, []string{"Ada"})
		check(t, "DeleteObservations", g, errors.Join(err, err2), graph.Graph{Entities: []graph.Entity{ada}, Relations: []graph.Relation{knows}})
		err = other.DeleteRelations(ctx, []graph.Relation{away, {From: "a", To: "b", RelationType: "c"}})
		g, err2 = s.Read(ctx)
		check(t, "DeleteRelations", g, errors.Join(err, err2), graph.Graph{Entities: []graph.Entity{ada, bob}, Relations: []graph.Relation{knows}})
		if now, err := s.Stamp(ctx); now == stamp || err != nil {
			t.Errorf("Stamp after changes: got %q, %v", now, err)
		}
		err = s.Import(ctx, graph.Graph{Entities: []graph.Entity{{Name: "Ada", EntityType: "other", Observations: []string{"new"}}, {Name: "Eve", EntityType: "person", Observations: []string{"e"}}}, Relations: []graph.Relation{knows, away}})
		ada.Observations = append(ada.Observations, "new")
		g, err2 = other.Read(ctx)
		check(t, "Import", g, errors.Join(err, err2), graph.Graph{Entities: []graph.Entity{ada, bob, {Name: "Eve", EntityType: "person", Observations: []string{"e"}}}, Relations: []graph.Relation{knows, away}})
		err = s.DeleteEntities(ctx, []string{"Bob", "None"})
		g, err2 = other.Read(ctx)
		check(t, "DeleteEntities", g, errors.Join(err, err2), graph.Graph{Entities: []graph.Entity{ada, {Name: "Eve", EntityType: "person", Observations: []string{"e"}}}, Relations: []graph.Relation{}})
		if g, err := s.Search(ctx, "beeps"); len(g.Entities) != 0 || err != nil {
			t.Errorf("Search finds what was deleted: %v, %v", g, err)
		}
		if runtime.GOOS != "windows" {
			for _, file := range []string{name, filepath.Dir(name)} {
				if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s can be read by others: %v, %v", file, info.Mode(), err)
				}
			}
		}
	})
}

// TestTogether lets many write at the same time, as several processes do.
func TestTogether(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, name string) {
		const writers, each = 6, 15
		var wg sync.WaitGroup
		for w := range writers {
			s := opened(t, name)
			wg.Go(func() {
				for i := range each {
					if _, err := s.CreateEntities(t.Context(), []graph.Entity{{Name: fmt.Sprint(w, "-", i)}}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if g, err := opened(t, name).Read(t.Context()); len(g.Entities) != writers*each || err != nil {
			t.Errorf("%d entities are there, %v, want %d", len(g.Entities), err, writers*each)
		}
	})
}

// childEnv makes this program write into a store until it is killed.
const childEnv = "FERRY_MEMORY_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := write(name, os.Args[1]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// write adds entities and deletes every third of them again, and says what it was told is done.
func write(name, prefix string) error {
	ctx := context.Background()
	s, err := open(ctx, name)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		e := graph.Entity{Name: fmt.Sprint(prefix, "-", i), EntityType: "x", Observations: []string{strings.Repeat("long ", 100)}}
		if _, err := s.CreateEntities(ctx, []graph.Entity{e}); err != nil {
			return err
		}
		fmt.Println("+" + e.Name)
		if i%3 == 0 {
			fmt.Println("?" + e.Name)
			if err := s.DeleteEntities(ctx, []string{e.Name}); err != nil {
				return err
			}
			fmt.Println("-" + e.Name)
		}
	}
}

// TestKilled kills writers at any moment: what they were told is done must be
// there, and the store must be whole.
func TestKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs SIGKILL")
	}
	both(t, func(t *testing.T, name string) {
		done := map[string]byte{}
		for round := range rounds() {
			var wg sync.WaitGroup
			var mu sync.Mutex
			for child := range 2 {
				cmd := exec.Command(os.Args[0], fmt.Sprint("w", round, child))
				cmd.Env = append(os.Environ(), childEnv+"="+name)
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				timer := time.AfterFunc(time.Duration(150+(round*67+child*31)%200)*time.Millisecond, func() { _ = cmd.Process.Kill() })
				wg.Go(func() {
					defer timer.Stop()
					for lines := bufio.NewScanner(out); lines.Scan(); {
						line := lines.Text()
						if strings.HasPrefix(line, "error:") {
							t.Error(line)
							continue
						}
						mu.Lock()
						done[line[1:]] = line[0]
						mu.Unlock()
					}
					_ = cmd.Wait()
				})
			}
			wg.Wait()
		}
		g, err := opened(t, name).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		for _, e := range g.Entities {
			there[e.Name] = true
			if len(e.Observations) != 1 {
				t.Errorf("%s is not whole", e.Name)
			}
		}
		for entity, state := range done {
			if state == '+' && !there[entity] || state == '-' && there[entity] {
				t.Errorf("%s: told %c, there: %t", entity, state, there[entity])
			}
		}
		if len(done) < 10 {
			t.Errorf("only %d writes were told: the test tests little", len(done))
		}
		if _, err := opened(t, name).CreateEntities(t.Context(), []graph.Entity{{Name: "last"}}); err != nil {
			t.Errorf("write after the kills: %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), ".*.tmp")); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	})
}

func rounds() int {
	if os.Getenv("FERRY_INTEROP") == "1" {
		return 40
	}
	return 6
}
