import { AppError } from '../base/errors.ts'

/** A subcommand: its own arguments in, its exit code out. */
export type Command = (args: string[]) => Promise<number>

/** Each is loaded only when it is used, so that `validate` starts without the server's weight. */
const COMMANDS: Readonly<Record<string, { summary: string; load: () => Promise<Command> }>> = {
  serve: { summary: 'Run the server.', load: async () => (await import('./serve.ts')).serve },
  dev: {
    summary: 'Run the server with your graphs, and load them anew when they change.',
    load: async () => (await import('./dev.ts')).dev,
  },
  validate: {
    summary: 'Say why runs are or are not fully functional.',
    load: async () => (await import('./validate.ts')).validate,
  },
  runs: {
    summary: 'List, cancel and follow runs of a deployment.',
    load: async () => (await import('./runs.ts')).runs,
  },
  usage: {
    summary: 'Count traces, tokens and costs over time.',
    load: async () => (await import('./usage.ts')).usage,
  },
  keys: {
    summary: 'List, make and revoke API keys.',
    load: async () => (await import('./keys.ts')).keys,
  },
  workspaces: {
    summary: 'List and make workspaces.',
    load: async () => (await import('./workspaces.ts')).workspaces,
  },
  members: {
    summary: 'List and add members.',
    load: async () => (await import('./members.ts')).members,
  },
  env: {
    summary: 'Print what points clients of this shell at the server.',
    load: async () => (await import('./env.ts')).env,
  },
  config: {
    summary: 'Print the effective configuration.',
    load: async () => (await import('./config.ts')).config,
  },
}

/** Runs the command line and returns the exit code; 2 for words that it does not understand. */
export async function main(argv: readonly string[]): Promise<number> {
  const [name, ...args] = argv
  if (name === '--version' || name === '-v') return version()
  const command = name === undefined || !Object.hasOwn(COMMANDS, name) ? undefined : COMMANDS[name]
  if (!command) return usage(name)
  try {
    const run = await command.load()
    return await run(args)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    console.error(`weir ${name}: ${error.message}${codeText(error)}`)
    return 2
  }
}

/** The code of an error, to look it up; none where the command line is wrong. */
function codeText({ code, message }: AppError): string {
  if (code === 'invalid_request') return ''
  return `${message.includes('\n') ? '\n' : ' '}(${code})`
}

function usage(name: string | undefined): number {
  const asked = name === undefined || name === 'help' || name === '--help' || name === '-h'
  const lines = Object.entries(COMMANDS).map(([command, { summary }]) => `  ${command.padEnd(10)} ${summary}`)
  const text = `Usage: weir <command> [options]\n\nCommands:\n${lines.join('\n')}\n\nweir <command> --help tells more.`
  if (asked) console.log(text)
  else console.error(`weir: there is no command "${name}".\n\n${text}`)
  return asked ? 0 : 2
}

async function version(): Promise<number> {
  const { packageVersion } = await import('../base/package-version.ts')
  console.log(packageVersion())
  return 0
}
