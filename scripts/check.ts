import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Every check by name, as a script for the running Node with its arguments; the longest first. */
const CHECKS: Record<string, readonly string[]> = {
  lint: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--format=unix'],
  // tsc keeps build info, with which the next check is several times faster if few files have changed.
  types: [
    'node_modules/typescript/bin/tsc',
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    'node_modules/.cache/types.tsbuildinfo',
  ],
  walls: ['scripts/check/walls.ts'],
  'ui-types': [
    'node_modules/typescript/bin/tsc',
    '--project',
    'ui',
    '--incremental',
    '--tsBuildInfoFile',
    'node_modules/.cache/ui-types.tsbuildinfo',
  ],
  python: ['scripts/check/python.ts'],
  unused: ['node_modules/knip/bin/knip.js'],
  format: ['node_modules/@biomejs/biome/bin/biome', 'format', '--reporter=summary', '--colors=off'],
  bundle: ['scripts/check/bundle.ts'],
  deploy: ['scripts/check/deploy.ts'],
  generated: ['scripts/generate.ts', '--check'],
  house: ['scripts/check/house.ts'],
  lock: ['scripts/check/lock.ts'],
  signatures: ['scripts/check/signatures.ts'],
}
/** Checks that run at a time. Most use one core and up to 2 GB of memory. */
const AT_ONCE = Math.min(2, availableParallelism())

/** Runs one check; if it passes, prints what it has skipped and one line, otherwise its whole output. */
async function runCheck(name: string, script: readonly string[]): Promise<boolean> {
  const started = performance.now()
  const child = spawn(process.execPath, script, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const [printed, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const passed = code === 0
  if (!passed) console.log(`${printed}${errors}`.trimEnd())
  else for (const line of printed.split('\n')) if (line.startsWith('skipped: ')) console.log(line)
  const said = passed ? (printed.trim().split('\n').at(-1) ?? '') : 'see above'
  console.log(`${passed ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${seconds} s  ${said}`.trimEnd())
  return passed
}

async function main(wanted: readonly string[]): Promise<void> {
  const unknown = wanted.filter((name) => CHECKS[name] === undefined)
  if (unknown.length > 0) {
    console.error(`no check named ${unknown.join(', ')}; there are ${Object.keys(CHECKS).join(', ')}`)
    process.exit(2)
  }
  const waiting = Object.entries(CHECKS).filter(([name]) => wanted.length === 0 || wanted.includes(name))
  const failed: string[] = []
  const runWaiting = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      if (!(await runCheck(...next))) failed.push(next[0])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runWaiting))
  // Once more, alone: a busy machine may have ended one.
  for (const name of failed.splice(0)) {
    if (!(await runCheck(name, CHECKS[name] ?? []))) failed.push(name)
    else console.log(`flaky: check ${name}`)
  }
  if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`)
  process.exit(failed.length === 0 ? 0 : 1)
}

await main(process.argv.slice(2))
