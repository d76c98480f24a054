import { createInterface } from 'node:readline/promises'
import { AppError } from '../../base/errors.ts'
import type { WorkspaceNames } from '../server/workspace-names.ts'

/** Prints a question and resolves with the line that the user types. */
export type Question = (text: string) => Promise<string>

/** Options and possible values for the workspaces of a new key; workspaces are given by id. */
export interface WorkspaceChoice {
  named: readonly string[] | undefined
  /** Workspace of --default-workspace. */
  preferred: string | undefined
  /** Workspaces that the key would serve without --workspace. */
  possible: readonly string[]
  names: WorkspaceNames
  /** Undefined without a terminal. */
  ask: Question | undefined
}

/**
 * Chooses the workspaces of a new key. The key must have one workspace or a default: ingest refuses a request that
 * names no workspace if its key has several and no default, and clients rarely name one.
 * @throws AppError invalid_request when there is a choice and no terminal
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
      message: `The key would serve several workspaces (${names.text(served)}), and requests that do not name one would be refused. Add ${flags}.`,
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

/**
 * Reads an answer on the terminal. The question is written to standard error, because standard output is for results.
 * Undefined without a terminal.
 */
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
