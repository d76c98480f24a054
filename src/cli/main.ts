import { AppError } from '../base/errors.ts'
import { HelpAsked, nearestName } from './arguments/command-arguments.ts'
import { printableLines } from './terminal/printable.ts'

/** A subcommand, which gets its own arguments and returns the exit code. */
export type Command = (args: string[]) => Promise<number>

/** Each command is loaded only when it is used, so that `validate` starts without loading the server. */
const COMMANDS: Readonly<Record<string, { summary: string; load: () => Promise<Command> }>> = {
  serve: { summary: 'Run the server.', load: async () => (await import('./commands/serve.ts')).serve },
  dev: {
    summary: 'Run the server with your graphs, and reload them when they change.',
    load: async () => (await import('./commands/dev.ts')).dev,
  },
  deploy: {
    summary: 'Deploy the LangGraph project of a folder, and show and change deployments.',
    load: async () => (await import('./commands/deploy.ts')).deploy,
  },
  open: {
    summary: 'Print a link that signs your browser in, and open it.',
    load: async () => (await import('./commands/sign-in/open.ts')).open,
  },
  login: {
    summary: 'Sign in with your browser, and keep a token for other commands.',
    load: async () => (await import('./commands/sign-in/login.ts')).login,
  },
  validate: {
    summary: 'Check logged runs: what Weir would store, and what is missing.',
    load: loadValidate,
  },
  runs: {
    summary: 'List, cancel and follow runs of a deployment.',
    load: async () => (await import('./commands/runs.ts')).runs,
  },
  usage: {
    summary: 'Count traces, tokens and costs over time.',
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  keys: {
    summary: 'List, create and revoke API keys.',
    load: async () => (await import('./commands/keys.ts')).keys,
  },
  setup: {
    summary: 'Apply a set-up file, show what it would change, or write one.',
    load: async () => (await import('./commands/setup/apply.ts')).setup,
  },
  workspaces: {
    summary: 'List and create workspaces.',
    load: async () => (await import('./commands/workspaces.ts')).workspaces,
  },
  projects: {
    summary: 'List and delete projects, and set how long they keep runs.',
    load: async () => (await import('./commands/projects.ts')).projects,
  },
  members: {
    summary: 'List and add members of the organization.',
    load: async () => (await import('./commands/members.ts')).members,
  },
  secrets: {
    summary: 'Encrypt the stored secrets again with a new key.',
    load: async () => (await import('./commands/secrets/rotate.ts')).secrets,
  },
  cluster: {
    summary: 'Try servers that share their stores.',
    load: async () => (await import('./commands/cluster/verify.ts')).cluster,
  },
  backup: {
    summary: 'Write a backup of all data into a folder, also while the server runs.',
    load: async () => (await import('./commands/backups/backup.ts')).backup,
  },
  restore: {
    summary: 'Restore a backup into empty stores.',
    load: async () => (await import('./commands/backups/restore.ts')).restore,
  },
  env: {
    summary: 'Print environment variables that point clients at the server.',
    load: async () => (await import('./commands/env.ts')).env,
  },
  mcp: {
    summary: 'Print the lines with which coding agents read traces.',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  config: {
    summary: 'Print the settings in effect.',
    load: async () => (await import('./commands/config.ts')).config,
  },
}

/** The code that calls a server is loaded only if the runs of a project are checked. */
async function loadValidate(): Promise<Command> {
  const { validate } = await import('./commands/validate.ts')
  return (args) =>
    validate(args, async function* (options) {
      const { readProjectRuns } = await import('./validation/project-runs.ts')
      yield* readProjectRuns(options)
    })
}

/** Runs the command line and returns the exit code; 2 for an invalid command line. */
export async function main(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv
  if (first === '--version' || first === '-v' || first === 'version') return version()
  const [name, args] = first === 'help' && rest.length > 0 ? [rest[0], ['--help']] : [first, rest]
  const command = name === undefined || !Object.hasOwn(COMMANDS, name) ? undefined : COMMANDS[name]
  if (!command) return usage(name)
  try {
    const run = await command.load()
    return await run(args)
  } catch (error) {
    if (error instanceof HelpAsked) {
      console.log(error.message)
      return 0
    }
    if (!(error instanceof AppError)) throw error
    // The message may be that of a server, with texts of its users.
    console.error(`weir ${name}: ${printableLines(error.message)}${codeText(error)}`)
    return 2
  }
}

/** The code of an error, for docs/api/errors.md; empty for an invalid command line. */
function codeText({ code, message }: AppError): string {
  if (code === 'invalid_request') return ''
  return `${message.includes('\n') ? '\n' : ' '}(${code})`
}

function usage(name: string | undefined): number {
  const asked = name === undefined || name === 'help' || name === '--help' || name === '-h'
  const lines = Object.entries(COMMANDS).map(([command, { summary }]) => `  ${command.padEnd(11)} ${summary}`)
  const text = `Usage: weir <command> [options]\n\nCommands:\n${lines.join('\n')}\n\nweir <command> --help describes a command, weir --version prints the version.`
  if (asked) console.log(text)
  else {
    const meant = nearestName(name, Object.keys(COMMANDS))
    const guess = meant === undefined ? '' : ` Did you mean ${meant}?`
    console.error(`weir: there is no command "${name}".${guess}\n\n${text}`)
  }
  return asked ? 0 : 2
}

async function version(): Promise<number> {
  const { packageVersion } = await import('../base/node/package-version.ts')
  console.log(packageVersion())
  return 0
}
