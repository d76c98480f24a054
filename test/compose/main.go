// Checks Compose files with the library of `docker compose`.
//
//	check FILE [PROFILE...]  loads the file with the profiles and the variables of the environment, as `docker compose
//	up` does; exit code 1 with the reason on standard error if that fails
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func check(file string, profiles []string) error {
	options, err := cli.NewProjectOptions([]string{file},
		cli.WithName("check"), cli.WithOsEnv, cli.WithProfiles(profiles))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err == nil && len(project.Services) == 0 {
		err = fmt.Errorf("no service with the profiles %v", profiles)
	}
	return err
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: check FILE [PROFILE...]")
		os.Exit(2)
	}
	if err := check(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
