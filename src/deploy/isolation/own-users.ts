import { execFile } from 'node:child_process'
import { chmodSync, chownSync, statSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { childEntry } from '../../base/child-entry.ts'
import { removeTree } from '../build/remove-tree.ts'
import type {
  Confine,
  ConfinedCommand,
  ProcessCommand,
  ProcessUser,
} from '../../base/node/confined-command.ts'
import type { Sandbox, SandboxOptions } from './sandbox.ts'
import { createUserIds, idsOfServer, type ServerIds, userOf } from './user-ids.ts'
import { giveFiles, takeFiles } from './user-files.ts'
import { createUserProcesses, endProcesses, processesOf } from './left-processes.ts'

const PROBE_MS = 10_000
/**
 * Folders of DATA_DIR/deployments that users of deployments must be able to enter, because each user has a folder in
 * them.
 */
const ENTERED = ['builds', 'artifacts', 'users']
/** The mode of a folder such as /tmp. */
const STICKY = 0o1000

/**
 * Isolation by user ids (P-23), for a server that runs as root on Linux: the hosts of each deployment have one user id,
 * and its builds another one, so that a build cannot change the code of a host. Lets other users enter DATA_DIR but not
 * list it, and closes everything in it except the folders of deployments. Resolves with the reason if that does not
 * work.
 */
export async function openOwnUsers(options: SandboxOptions): Promise<Sandbox | { reason: string }> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return { reason: 'user ids of their own need a server that runs as root on Linux.' }
  const hardlinks = await readFile('/proc/sys/fs/protected_hardlinks', 'utf8').catch(() => '')
  if (hardlinks.trim() !== '1') return { reason: 'user ids of their own need fs.protected_hardlinks = 1.' }
  const root = join(resolve(options.dataDir), 'deployments')
  const users = join(root, 'users')
  const ids = idsOfServer(resolve(options.dataDir))
  const before = await stat(dirname(root))
  if ((before.mode & STICKY) !== 0)
    return { reason: 'user ids of their own need a DATA_DIR that is no folder for files of all users.' }
  const failure = await probe(ids.probe, root, options)
  if (failure !== undefined) {
    await chmod(dirname(root), before.mode & 0o7777).catch(() => undefined)
    return { reason: `user ids of their own do not work here: ${failure}` }
  }
  await endLeftovers(ids)
  const known = createUserIds(users, ids)
  const processes = createUserProcesses()
  const turns = createTurns()
  return {
    async hosts(dir, { id }) {
      const { host } = await known.of(id)
      await giveFiles(dir, host)
      await giveFolder(dirname(dir), host)
      const confine = confineTo(host, join(users, id, 'home'))
      return (command) => ({ ...confine(command), started: (pid) => processes.started(host, pid) })
    },
    async builds(dir, { id, cache }) {
      const own = join(users, id, 'cache')
      const leave = await turns.enter(id)
      const begin = async (): Promise<ProcessUser> => {
        const { builder } = await known.of(id)
        await endProcesses(builder)
        await mkdir(own, { recursive: true, mode: 0o700 })
        if ((await stat(own)).uid !== builder.uid) await takeFiles(own, builder)
        await takeFiles(dir, builder)
        return builder
      }
      const builder = await begin().catch((error: unknown) => {
        leave()
        throw error
      })
      const confine = confineTo(builder, own)
      const ofCache = (value: string): string =>
        value.startsWith(cache) ? own + value.slice(cache.length) : value
      return {
        // With a shared cache, a deployment could change the packages of another.
        confine: (command) => confine({ ...command, env: mapValues(command.env, ofCache) }),
        caches: [own],
        end: () => endProcesses(builder).finally(leave),
      }
    },
    async forget(id) {
      const { host, builder } = (await known.find(id)) ?? {}
      for (const user of [host, builder]) if (user !== undefined) await endProcesses(user)
      await removeTree(join(users, id))
    },
  }
}

/**
 * Runs builds of one deployment one after the other, because the end of a build ends all processes of their common
 * user. A build of another server may be unpacked while this server builds the next revision.
 */
function createTurns(): { enter(deployment_id: string): Promise<() => void> } {
  const last = new Map<string, Promise<void>>()
  return {
    async enter(id) {
      const before = last.get(id)
      const { promise, resolve } = Promise.withResolvers<void>()
      last.set(id, promise)
      await before
      return () => {
        if (last.get(id) === promise) last.delete(id)
        resolve()
      }
    },
  }
}

function mapValues(env: ProcessCommand['env'], map: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, map(value)]))
}

/** Runs commands as `user`, whose own folder is `home`. */
function confineTo(user: ProcessUser, home: string): Confine {
  return (command): ConfinedCommand => {
    for (const path of command.reach) openPath(path, user)
    for (const folder of command.socketFolders) {
      // With this mode each user can remove only its own files.
      chownSync(folder, 0, user.gid)
      chmodSync(folder, 0o1770)
    }
    const { NODE_COMPILE_CACHE: _ofServer, ...env } = command.env
    return {
      ...command,
      args: command.args.map((argument) => (argument.startsWith('--umask=') ? '--umask=77' : argument)),
      env: { ...env, HOME: home, TMPDIR: home },
      user,
    }
  }
}

/** Lets the user connect to a socket, or to the sockets in a folder of the deployment. */
function openPath(path: string, { gid }: ProcessUser): void {
  if (statSync(path).isDirectory()) {
    chownSync(path, 0, gid)
    chmodSync(path, 0o750)
    return
  }
  // All deployments use the socket of the storage broker, which requires a token.
  chmodSync(dirname(path), 0o711)
  chmodSync(path, 0o666)
}

async function giveFolder(folder: string, { gid }: ProcessUser): Promise<void> {
  await chown(folder, 0, gid)
  await chmod(folder, 0o750)
}

/**
 * Lets other users enter the folders of deployments, and makes everything else in DATA_DIR accessible only to the
 * server.
 */
async function closeDataDir(root: string): Promise<void> {
  for (const name of ENTERED) await mkdir(join(root, name), { recursive: true, mode: 0o700 })
  await closeEntries(dirname(root), ['deployments'])
  await closeEntries(root, ENTERED)
  for (const folder of [dirname(root), root, ...ENTERED.map((name) => join(root, name))])
    await chmod(folder, 0o711)
}

async function closeEntries(folder: string, except: readonly string[]): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (except.includes(entry.name) || entry.isSymbolicLink()) continue
    const path = join(folder, entry.name)
    // A file may disappear meanwhile.
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined) await chmod(path, found.mode & 0o770).catch(() => undefined)
  }
}

/**
 * Program that exits with an error if it cannot read the files that hosts need, cannot write to its own folder, or can
 * list DATA_DIR.
 */
const PROBE = `
  const fs = require('node:fs')
  const [hidden, own, file, ...folders] = process.argv.slice(1)
  fs.closeSync(fs.openSync(file, 'r'))
  for (const folder of folders) fs.statSync(folder + '/.')
  fs.writeFileSync(own + '/file', '')
  let names
  try { names = fs.readdirSync(hidden) } catch {}
  if (names) throw new Error(hidden + ' can be read by other users')
`

/** Closes DATA_DIR, and runs Node as another user like a host. Resolves with the reason if that does not work. */
async function probe(user: ProcessUser, root: string, options: SandboxOptions): Promise<string | undefined> {
  const entry = new URL(childEntry('graph-host')).pathname
  const own = join(root, 'users', 'probe')
  const args = ['-e', PROBE, resolve(options.dataDir), own, entry, options.packages, tmpdir()]
  try {
    await closeDataDir(root)
    await mkdir(own, { recursive: true, mode: 0o700 })
    // Fails on a file system without owners.
    await chown(own, user.uid, user.gid)
    await promisify(execFile)(process.execPath, args, { ...user, cwd: '/', env: {}, timeout: PROBE_MS })
    return undefined
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    return (/^\w*Error: (.*)$/m.exec(stderr)?.[1] ?? message).slice(0, 500)
  } finally {
    await rm(own, { recursive: true, force: true }).catch(() => undefined)
  }
}

/**
 * Ends processes of an earlier start under these ids: no process may change a folder while the server works in it as
 * root.
 */
async function endLeftovers({ first, probe: { uid: last } }: ServerIds): Promise<void> {
  const left = await processesOf((uid) => uid >= first && uid <= last)
  for (const uid of new Set(left.map((one) => one.uid))) await endProcesses(userOf(uid))
}
