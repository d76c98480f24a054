// The duration of `weir validate` on one small body, compared with a Node process that does nothing:
//   node bench/validate-start.bench.ts
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const BODY = 'test/corpus/ls-js-wrap-openai-chat/request-2.body'
const ROUNDS = 11
/**
 * The limit for the duration of `weir validate`, as a ratio to an empty Node process, which does not depend on the
 * machine.
 */
const BAR_MS = 200
const BAR_RATIO = 8

const cache = mkdtempSync(join(tmpdir(), 'weir-bench-'))
const plain = { ...process.env, NODE_COMPILE_CACHE: '' }
const cached = { ...process.env, NODE_COMPILE_CACHE: cache }
const built = existsSync(join(ROOT, 'dist/src/main.js'))

function medianMs(args: string[], env: NodeJS.ProcessEnv): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const started = performance.now()
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env })
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${String(stderr)}`)
    return performance.now() - started
  })
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
}

const bare = medianMs(['-e', '0'], plain)
console.log(`node -e 0                       ${bare.toFixed(0)} ms`)
const ways: [string, string[], NodeJS.ProcessEnv][] = [
  ['sources', ['src/main.ts', 'validate', BODY], plain],
  ['sources, compile cache', ['src/main.ts', 'validate', BODY], cached],
  ['as started (bin/weir.mjs)', ['bin/weir.mjs', 'validate', BODY], process.env],
  ...(built
    ? [
        ['built', ['dist/src/main.js', 'validate', BODY], plain] satisfies [
          string,
          string[],
          NodeJS.ProcessEnv,
        ],
      ]
    : []),
]
for (const [name, args, env] of ways) {
  const ms = medianMs(args, env)
  const ratio = ms / bare
  const met = ms < BAR_MS || ratio < BAR_RATIO ? 'ok' : 'over the bar'
  console.log(`${name.padEnd(30)}  ${ms.toFixed(0)} ms  ${ratio.toFixed(1)} × bare  ${met}`)
}
rmSync(cache, { recursive: true })
