import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Every check by name, as a script for the running Node with its arguments. */
const CHECKS: Record<string, readonly string[]> = {
  format: ['node_modules/@biomejs/biome/bin/biome', 'format', '--reporter=summary', '--colors=off'],
  lint: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--format=unix'],
  // tsc keeps build info, with which the next check is several times faster if few files have changed.
  types: [
    'node_modules/typescript/bin/tsc',
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    'node_modules/.cache/types.tsbuildinfo',
  ],
  'ui-types': [
    'node_modules/typescript/bin/tsc',
    '--project',
    'ui',
    '--incremental',
    '--tsBuildInfoFile',
    'node_modules/.cache/ui-types.tsbuildinfo',
  ],
  bundle: ['scripts/check/bundle.ts'],
  walls: ['scripts/check/walls.ts'],
  unused: ['node_modules/knip/bin/knip.js'],
  generated: ['scripts/generate.ts', '--check'],
  house: ['scripts/check/house.ts'],
  python: ['scripts/check/python.ts'],
  lock: ['scripts/check/lock.ts'],
  deploy: ['scripts/check/deploy.ts'],
}

/** Runs one check; if it passes, prints what it has skipped and one line, otherwise its whole output. */
function runCheck(name: string, script: readonly string[]): boolean {
  const started = performance.now()
  const done = spawnSync(process.execPath, script, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28 })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const passed = done.status === 0
  if (!passed) console.log(`${done.stdout}${done.stderr}`.trimEnd())
  else for (const line of done.stdout.split('\n')) if (line.startsWith('skipped: ')) console.log(line)
  const said = passed ? (done.stdout.trim().split('\n').at(-1) ?? '') : 'see above'
  console.log(`${passed ? 'ok  ' : 'FAIL'} ${name.padEnd(9)} ${seconds} s  ${said}`.trimEnd())
  return passed
}

function main(wanted: readonly string[]): void {
  const unknown = wanted.filter((name) => CHECKS[name] === undefined)
  if (unknown.length > 0) {
    console.error(`no check named ${unknown.join(', ')}; there are ${Object.keys(CHECKS).join(', ')}`)
    process.exit(2)
  }
  const chosen = Object.entries(CHECKS).filter(([name]) => wanted.length === 0 || wanted.includes(name))
  const failed = chosen.filter(([name, script]) => !runCheck(name, script)).map(([name]) => name)
  if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`)
  process.exit(failed.length === 0 ? 0 : 1)
}

main(process.argv.slice(2))
