import { format } from 'node:util'
import { vi } from 'vitest'
import { main } from '../../src/cli/main.ts'

export interface CommandEnd {
  code: number | null
  stdout: string
  stderr: string
}

/**
 * Runs a command of `weir` in the process of the test, which takes a tenth of the CPU of a separate process. `env` is
 * the command's whole environment, and `cwd` its working folder. Both belong to the process, so commands run one at a
 * time.
 */
export async function runCommand(
  args: readonly string[],
  { env, cwd = process.cwd() }: { env: Readonly<Record<string, string | undefined>>; cwd?: string },
): Promise<CommandEnd> {
  const before = { env: process.env, cwd: process.cwd() }
  const [out, err]: [string[], string[]] = [[], []]
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((...line) => void out.push(`${format(...line)}\n`)),
    vi.spyOn(console, 'error').mockImplementation((...line) => void err.push(`${format(...line)}\n`)),
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0),
  ]
  process.env = { ...env }
  process.chdir(cwd)
  try {
    return { code: await main(args), stdout: out.join(''), stderr: err.join('') }
  } finally {
    process.env = before.env
    process.chdir(before.cwd)
    for (const spy of spies) spy.mockRestore()
  }
}
