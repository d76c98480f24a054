// Runs a script of this repository on Node 24, even if another Node (18 or newer) has started this file. Installs the
// dependencies first if they are missing or older than package-lock.json. Plain JavaScript without dependencies,
// because it runs before they are installed.
// node scripts/launch.mjs <script> [arguments…]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { constants, setPriority, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const WANTED_MAJOR = 24
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

/**
 * The reason why the installed packages do not fit the lock file; undefined if they fit. `lock` is package-lock.json,
 * `installed` is what npm recorded in node_modules/.package-lock.json. Packages for other platforms may be missing, and
 * so may all dev dependencies together.
 */
export function staleReason(lock, installed) {
  if (lock === undefined) return undefined
  if (installed === undefined) return 'the dependencies are not installed'
  const entries = Object.entries(lock.packages).filter(([path]) => path !== '')
  const hasDev = entries.some(([path, entry]) => entry.dev && installed.packages[path] !== undefined)
  for (const [path, entry] of entries) {
    const found = installed.packages[path]
    const mayMiss = entry.optional || entry.devOptional || entry.peer || (entry.dev && !hasDev)
    if (found === undefined && mayMiss) continue
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
  console.error(`weir: ${reason}; running npm ci (once, about a minute)`)
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

/**
 * Starts Node 24 with the script. Passes signals on to the child, exits with its exit code, and ends it if this process
 * ends unexpectedly.
 */
function runOn(node, script, args) {
  Object.assign(process.env, allocation())
  const tie = new URL('./end-with-launcher.mjs', import.meta.url).href
  const child = spawn(node, ['--import', tie, script, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of FORWARDED) {
    // A terminal sends Ctrl-C to the whole process group, so the child has received it already.
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
 * Ends this process when its shell ends. npm starts scripts through a shell that does not pass signals on, so that a
 * killed `npm start` would leave a server behind.
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

/**
 * A folder for compiled code in the temporary folder. Undefined if another user could write to the folder, because its
 * content is executed.
 */
function ownCacheFolder() {
  const uid = process.getuid?.()
  const folder = join(tmpdir(), `weir-compile-cache-${uid ?? 'user'}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    const isOwn = uid === undefined || (found.uid === uid && (found.mode & 0o022) === 0)
    return found.isDirectory() && isOwn ? folder : undefined
  } catch {
    return undefined
  }
}

const BUILD_PRIORITY = 15

/**
 * Starts a build of the web interface beside the server, unless `ui/dist` was built from the current sources. The build
 * has a low priority. If it fails, the server continues, and `/app` shows the error.
 */
async function buildUiWhereNeeded(node) {
  try {
    const { uiHash } = await import('./ui/hash.mjs')
    const built = join(ROOT, 'ui', 'dist', 'sources')
    if (existsSync(built) && readFileSync(built, 'utf8') === uiHash()) return
    const script = join(ROOT, 'scripts', 'ui', 'build.ts')
    const child = spawn(node, [script], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', (error) => console.error(`weir: the web interface is not built: ${error.message}`))
    if (child.pid !== undefined) setPriority(child.pid, BUILD_PRIORITY)
    child.unref()
  } catch (error) {
    console.error(`weir: the web interface is not built: ${error.message}`)
  }
}

/** Commands of `weir` that serve the web interface. */
const SERVING = ['serve', 'dev']

/**
 * Settings of glibc, which reads them only when a process starts. With them it returns the memory of large buffers when
 * they are freed. Otherwise it keeps, for each thread, what the largest bodies needed: more than 1 GB (measured).
 */
function allocation() {
  const { MALLOC_MMAP_THRESHOLD_: mapped = '131072', MALLOC_TRIM_THRESHOLD_: trimmed = '131072' } =
    process.env
  return { MALLOC_MMAP_THRESHOLD_: mapped, MALLOC_TRIM_THRESHOLD_: trimmed }
}

/** Replaces this process by one with these settings, under the same id; does nothing where that is not possible. */
function startAgainWithAllocation() {
  if (process.platform !== 'linux' || process.env['MALLOC_MMAP_THRESHOLD_'] !== undefined) return
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  try {
    process.execve?.(process.execPath, args, { ...process.env, ...allocation() })
  } catch {
    // A server without these settings only needs more memory.
  }
}

/** Runs `script` with `args` on Node 24: in this process if its version is new enough. */
export async function launch(script, args, { install = true } = {}) {
  if (/(^|\/)main\.[jt]s$/.test(script) && SERVING.includes(args[0])) startAgainWithAllocation()
  try {
    if (install) installWhereNeeded(script)
  } catch (error) {
    return fail(error.message)
  }
  endWithShell()
  // Compilation takes a third of the start-up time, so this process and its children share a compile cache.
  const cache = process.env['NODE_COMPILE_CACHE'] ?? ownCacheFolder()
  if (cache === undefined) process.env['NODE_DISABLE_COMPILE_CACHE'] ??= '1'
  else process.env['NODE_COMPILE_CACHE'] = cache
  const file = resolve(ROOT, script)
  const isServing =
    install && (script === 'scripts/dev.ts' || (script === 'src/main.ts' && SERVING.includes(args[0])))
  if (Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR) {
    process.argv = [process.execPath, file, ...args]
    if (cache !== undefined) nodeModule.enableCompileCache?.(cache)
    if (isServing) await buildUiWhereNeeded(process.execPath)
    await import(pathToFileURL(file).href)
    return undefined
  }
  const node = installedNode()
  if (node !== undefined && isServing) await buildUiWhereNeeded(node)
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
