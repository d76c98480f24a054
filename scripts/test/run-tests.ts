import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { fileURLToPath } from 'node:url'
import type { FileResult, TestRunResult } from './results.ts'
import { failedCount, summaryLines, withRerun } from './results.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Files that run again after a failure. More failed files than these are not a matter of chance. */
const MOST_RERUN = 10
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface RunOptions {
  /** Each file in a process of its own, with nothing beside it. */
  alone?: boolean
  environment?: Record<string, string>
}

/** Runs a script on this Node, which ends with this process; its exit code, or null after a signal. */
export async function runScript(args: readonly string[], environment = env): Promise<number | null> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: environment })
  const end = (signal: NodeJS.Signals): void => {
    child.kill(signal)
    process.exitCode = 1
  }
  for (const signal of SIGNALS) process.on(signal, end)
  const [code] = (await once(child, 'exit')) as [number | null]
  for (const signal of SIGNALS) process.off(signal, end)
  return code
}

/** Runs vitest; its results, or undefined if it ended before it had any. */
async function runVitest(
  projects: readonly string[],
  args: readonly string[],
  { alone = false, environment = {} }: RunOptions = {},
): Promise<TestRunResult | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-tests-'))
  const path = join(folder, 'results.json')
  try {
    await runScript(
      ['node_modules/vitest/vitest.mjs', 'run', ...projects.map((name) => `--project=${name}`), ...args],
      { ...env, ...environment, TEST_RESULTS: path, ...(alone && { TEST_ALONE: '1' }) },
    )
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TestRunResult) : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the failed files once more, alone; undefined if one of the runs had no results. */
async function runAgain(
  failed: readonly FileResult[],
  environment: Record<string, string>,
): Promise<TestRunResult | undefined> {
  const again: TestRunResult = { files: [], unhandled: [] }
  for (const [project, files] of Map.groupBy(failed, (file) => file.project)) {
    const paths = files.map(({ file }) => file)
    console.log(`\nfailed, run again alone: ${paths.join(', ')}`)
    const result = await runVitest([project], paths, { alone: true, environment })
    if (result === undefined) return undefined
    again.files.push(...result.files)
    again.unhandled.push(...result.unhandled)
  }
  return again
}

/** Runs the tests, the files that fail once more, and prints the closing lines. Returns the results of all files. */
export async function runTests(
  projects: readonly string[],
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<FileResult[]> {
  const first = await runVitest(projects, args, { environment })
  if (first === undefined) {
    console.log('vitest ended without results\n0 passed, 1 failed')
    process.exitCode = 1
    return []
  }
  const failed = first.files.filter((file) => file.failed.length > 0)
  const isRerun = failed.length > 0 && failed.length <= MOST_RERUN
  const again = isRerun ? await runAgain(failed, environment) : undefined
  const { result, flaky } = again === undefined ? { result: first, flaky: [] } : withRerun(first, again)
  console.log()
  for (const line of summaryLines(result, flaky)) console.log(line)
  if (failedCount(result) > 0) process.exitCode = 1
  return result.files
}
