import { createInterface } from 'node:readline/promises'
import { AppError } from '../base/errors.ts'
import type { WorkspaceNames } from './workspace-names.ts'

/** Asks the user something and resolves with the line that is typed. */
export type Question = (text: string) => Promise<string>

/** What is known of the workspaces of a new key, by their ids. */
export interface WorkspaceChoice {
  /** Those of --workspace. */
  named: readonly string[] | undefined
  /** That of --default-workspace. */
  preferred: string | undefined
  /** Those that the key would serve if none were named. */
  possible: readonly string[]
  names: WorkspaceNames
  /** Undefined where nobody can be asked. */
  ask: Question | undefined
}

/**
 * The workspaces of a new key. Ingest refuses requests of a key that serves several and has no default, unless they name
 * one, which clients are rarely told to do: so one is chosen here.
 * @throws AppError invalid_request when it must be chosen and nobody can be asked
 */
export async function chooseWorkspaces({ named, preferred, possible, names, ask }: WorkspaceChoice): Promise<{
  workspaces: readonly string[] | undefined
  default_workspace_id: string | undefined
}> {
  const served = named ?? possible
  if (preferred !== undefined || served.length <= 1)
    return { workspaces: named, default_workspace_id: preferred }
  if (ask === undefined) {
    const flags =
      named === undefined
        ? '--workspace NAME for a key of one workspace, or --default-workspace NAME for a key of all'
        : '--default-workspace NAME'
    throw new AppError('invalid_request', {
      message: `The key would serve several workspaces (${names.text(served)}), and requests that do not say for which would be refused. Add ${flags}.`,
    })
  }
  const list = served.map((id, n) => `  ${n + 1}  ${names.text([id])}`)
  const question =
    named === undefined ? 'Which workspace is the key for?' : 'To which workspace do its requests go?'
  const answer = (await ask(`${question}\n${list.join('\n')}\nNumber or name: `)).trim()
  const chosen = served[Number(answer) - 1] ?? names.idOf(answer)
  return named === undefined
    ? { workspaces: [chosen], default_workspace_id: undefined }
    : { workspaces: named, default_workspace_id: chosen }
}

/** Undefined where no terminal is. The question goes to standard error: standard output is the answer's. */
export function terminalQuestion(): Question | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  return async (text) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    try {
      return await terminal.question(text)
    } finally {
      terminal.close()
    }
  }
}
