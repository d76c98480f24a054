import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** Time for the registry, milliseconds. */
const LIMIT_MS = 60_000

/** What `npm audit signatures --json` prints. */
interface Report {
  invalid?: { name: string; version: string; code?: string }[]
  missing?: { name: string; version: string }[]
  error?: { code?: string; summary?: string }
}

/** The outcome of the check: problems, or the reason why it was not made. Pure. */
export function outcomeOf(printed: string): { problems: string[] } | { skipped: string } {
  let report: Report
  try {
    report = JSON.parse(printed) as Report
  } catch {
    return { skipped: 'npm audit signatures printed no report' }
  }
  const { invalid, missing, error } = report
  if (error !== undefined || (invalid === undefined && missing === undefined)) {
    const why = [error?.code, error?.summary].filter(Boolean).join(' ').split('\n')[0]
    return { skipped: `the registry gives no signatures${why ? `: ${why}` : ''}` }
  }
  return {
    problems: [
      ...(invalid ?? []).map((one) => `${one.name}@${one.version}: its signature is not valid`),
      ...(missing ?? []).map((one) => `${one.name}@${one.version}: the registry signs others, and not this`),
    ],
  }
}

/** Runs npm, and ends it when the registry does not answer in time. */
async function printedByNpm(): Promise<string> {
  const args = ['audit', 'signatures', '--json', '--fetch-retries=0']
  const child = spawn('npm', args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: LIMIT_MS })
  child.on('error', () => undefined)
  return await text(child.stdout)
}

/** Checks that the registry has signed the installed packages. Without a registry nothing is checked. */
async function main(): Promise<void> {
  const outcome = outcomeOf(await printedByNpm())
  if ('skipped' in outcome) {
    console.log(`skipped: signatures of packages, because ${outcome.skipped}`)
    console.log('not checked')
    return
  }
  for (const problem of outcome.problems) console.error(problem)
  console.log(`signatures of packages, ${outcome.problems.length} problems`)
  process.exitCode = outcome.problems.length === 0 ? 0 : 1
}

if (import.meta.main) await main()
