// Runs a script of this repository on Node 24, whatever Node started this file (18 or newer), and installs
// the dependencies first where they are missing or older than package-lock.json. Plain JavaScript without
// dependencies, because it runs before they are there.
//   node scripts/launch.mjs <script> [arguments…]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const WANTED_MAJOR = 24
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

/**
 * Why the installed packages do not fit the lock file, or undefined when they do. `lock` is
 * package-lock.json, `installed` is what npm recorded in node_modules/.package-lock.json.
 * Packages for other platforms and left-out dev dependencies count as fitting.
 */
export function staleReason(lock, installed) {
  if (lock === undefined) return undefined
  if (installed === undefined) return 'the dependencies are not installed'
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '') continue
    const found = installed.packages[path]
    if (found === undefined && (entry.optional || entry.dev || entry.devOptional || entry.peer)) continue
    if (found?.version !== entry.version) return `${path.replace(/^.*node_modules\//, '')} has changed`
  }
  return undefined
}

function installWhereNeeded(script) {
  const lock = readJson(join(ROOT, 'package-lock.json'))
  const reason =
    staleReason(lock, readJson(join(ROOT, 'node_modules', '.package-lock.json'))) ??
    (existsSync(resolve(ROOT, script)) ? undefined : `${script} is missing`)
  if (reason === undefined) return
  console.error(`weir: ${reason}; running npm ci (once, about half a minute)`)
  const npm = process.env['npm_execpath']
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const options = { cwd: ROOT, stdio: ['ignore', 2, 2] }
  const done =
    npm !== undefined && /\.c?js$/.test(npm)
      ? spawnSync(process.execPath, [npm, ...args], options)
      : spawnSync('npm', args, options)
  if (done.status === 0) return
  const cause = done.error === undefined ? `exit code ${done.status}` : done.error.message
  throw new Error(`npm ci failed (${cause}). Run it by hand in ${ROOT} to see why.`)
}

/** Path of the Node 24 that came with the dependencies, or undefined. */
function installedNode() {
  try {
    const require = nodeModule.createRequire(import.meta.url)
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`)
    const binary = join(dirname(manifest), 'bin', 'node')
    return existsSync(binary) ? binary : undefined
  } catch {
    return undefined
  }
}

/** Spawns Node 24 on the script; its signals, exit code and, should this process die, its end are tied to ours. */
function runOn(node, script, args) {
  const tie = new URL('./end-with-launcher.mjs', import.meta.url).href
  const child = spawn(node, ['--import', tie, script, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of FORWARDED) {
    // A terminal sends Ctrl-C to the whole group: the child has it already.
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)))
  }
  child.on('error', (error) => fail(`${node} does not start: ${error.message}`))
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0))
  })
}

function fail(message) {
  console.error(`weir: ${message}`)
  process.exit(1)
}

/**
 * npm starts scripts through a shell that passes no signal on: when it is gone, so are we to be. Otherwise a killed
 * `npm start` would leave a server behind.
 */
function endWithShell() {
  if (process.env['npm_lifecycle_event'] === undefined || process.stdin.isTTY) return
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  watch.unref()
}

/** Runs `script` with `args` on Node 24, in this process where it is new enough already. */
export async function launch(script, args, { install = true } = {}) {
  try {
    if (install) installWhereNeeded(script)
  } catch (error) {
    return fail(error.message)
  }
  endWithShell()
  const file = resolve(ROOT, script)
  if (Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR) {
    process.argv = [process.execPath, file, ...args]
    nodeModule.enableCompileCache?.() // a third of the start-up time of sources is compiling them
    await import(pathToFileURL(file).href)
    return undefined
  }
  const node = installedNode()
  if (node !== undefined) return runOn(node, file, args)
  return fail(
    `Node ${WANTED_MAJOR} or newer is needed and this is ${process.version}. ` +
      `There is no packaged Node for ${process.platform}-${process.arch}: install Node ${WANTED_MAJOR} from https://nodejs.org.`,
  )
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [script, ...args] = process.argv.slice(2)
  if (!script) fail('usage: node scripts/launch.mjs <script> [arguments…]')
  else await launch(script, args)
}
