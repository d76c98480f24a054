import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { CHANNEL_FLAG, type Confine } from '../../base/node/confined-command.ts'
import { ask, containedProcess, type ContainerCommand } from './contained-process.ts'
import { environmentFlags } from './container-environment.ts'
import { findProgram } from './find-program.ts'
import { cachesOf, type Sandbox } from './sandbox.ts'
import { openSocketChannel } from './socket-channel.ts'
import { type VisibleFiles, visibleFiles, type VisibleFilesOptions } from './visible-files.ts'

/** Containers in which builds and hosts run. */
export interface Containers extends Sandbox {
  /** The command that runs containers, such as `podman --runtime runc` or `docker`. */
  command: string
}

/** The files of the server, and the command that runs containers. */
export interface ContainersOptions extends VisibleFilesOptions {
  /** The command, such as `docker` or `podman --runtime crun`; undefined for the first one that works. */
  command?: string | undefined
}

/** Commands that are tried, in this order. If crun cannot set up a container, runc may be able to. */
const CANDIDATES = ['podman', 'podman --runtime runc', 'docker'] as const
const PROBE_MS = 60_000
const MAX_PROCESSES = 1024
/** Limits of builds. A build may need more memory than a host (P-20). */
const BUILD_LIMITS = { memory_bytes: 4 * 1024 ** 3, cpus: 2 }
/** Empty folders of the image, on which the files of this machine are mounted. */
const FOLDERS = ['usr', 'etc', 'proc', 'dev', 'sys', 'tmp', 'run', 'var']

/**
 * Finds a container runtime, and runs Node in a container of it. The containers have an image without files: the files
 * of this machine that they read are mounted, as in the sandbox. Removes containers of an earlier start. Resolves with
 * the reason if no runtime works.
 */
export async function openContainers(options: ContainersOptions): Promise<Containers | { reason: string }> {
  if (process.platform !== 'linux') return { reason: 'hosts in containers need Linux.' }
  const visible = await visibleFiles(options)
  const reasons: string[] = []
  for (const words of options.command === undefined ? CANDIDATES : [options.command]) {
    const [name = '', ...flags] = words.split(' ').filter(Boolean)
    const file = isAbsolute(name) ? name : await findProgram(name, options.env)
    if (file === undefined) {
      if (flags.length === 0) reasons.push(`${name} is not on the PATH`)
      continue
    }
    const kind = basename(file) === 'docker' ? 'docker' : 'podman'
    const command: ContainerCommand = { kind, file, flags, env: options.env }
    try {
      const confine = await containersOf(command, visible)
      await probe(confine, options.env)
      return { command: words, ...sandboxOf(confine) }
    } catch (error) {
      reasons.push(`${words} does not work here: ${printedBy(error)}`)
    }
  }
  return { reason: `${reasons.join('; ')}.` }
}

type Binds = (
  folders: { read: readonly string[]; write: readonly string[] },
  limits: typeof BUILD_LIMITS,
) => Confine

function sandboxOf(confine: Binds): Sandbox {
  return {
    hosts: async (dir, { limits }) => confine({ read: [dir], write: [] }, limits),
    async builds(dir, { cache }) {
      await mkdir(cache, { recursive: true })
      return {
        confine: confine({ read: [], write: [dir, cache] }, BUILD_LIMITS),
        caches: cachesOf(dir, cache),
        end: async () => undefined,
      }
    },
    forget: async () => undefined,
  }
}

/**
 * Removes containers of an earlier start, creates the image, and returns a function that makes the commands of new
 * containers.
 */
async function containersOf(command: ContainerCommand, visible: VisibleFiles): Promise<Binds> {
  const label = `weir.server=${hashOf(visible.hidden)}`
  await removeLeftovers(command, label)
  const image = await ensureImage(command, visible)
  const base = [
    ...['run', '--label', label, '--pull', 'never', '--log-driver', 'none'],
    ...(command.kind === 'podman' ? ['--http-proxy=false'] : []),
    ...['--network', 'host', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'],
    ...['--security-opt', 'no-new-privileges', '--security-opt', 'label=disable'],
    ...userFlags(command),
    ...[
      '--ulimit',
      `nofile=${OPEN_FILES}:${OPEN_FILES}`,
      '--ulimit',
      `nproc=${USER_PROCESSES}:${USER_PROCESSES}`,
    ],
    ...(await mountsOf(visible)),
  ]
  return (folders, limits) => (wanted) => {
    const name = `weir-${randomBytes(8).toString('hex')}`
    const pidFile = join(tmpdir(), `${name}.pid`)
    const { flags, env } = environmentFlags({ ...wanted.env, HOME: '/tmp', TMPDIR: '/tmp' }, command.env)
    // docker cannot pass a file descriptor to a container.
    const channel = wanted.hasChannel && command.kind === 'docker' ? openSocketChannel() : undefined
    return {
      ...wanted,
      file: command.file,
      args: [
        ...command.flags,
        ...base,
        ...['--name', name, '--workdir', wanted.cwd],
        ...(command.kind === 'podman' ? ['--pidfile', pidFile] : []),
        ...[`--memory=${limits.memory_bytes}`, `--cpus=${limits.cpus}`, `--pids-limit=${MAX_PROCESSES}`],
        ...(wanted.hasChannel && channel === undefined ? ['--preserve-fds', '1'] : []),
        ...(channel === undefined ? [] : ['--volume', `${channel.path}:${channel.path}`]),
        ...[...folders.read, ...wanted.reach].flatMap((path) => ['--volume', `${path}:${path}:ro`]),
        ...[...folders.write, ...wanted.socketFolders].flatMap((path) => ['--volume', `${path}:${path}`]),
        ...flags,
        ...[image, wanted.file, ...wanted.args],
        ...(channel === undefined ? [] : [CHANNEL_FLAG + channel.path]),
      ],
      cwd: '/',
      env,
      container: containedProcess(command, { name, pidFile, ended: () => channel?.close() }),
      ...(channel && { channel: channel.stream }),
    }
  }
}

/**
 * Flags that give containers the user of the server, since only this user can read the files of a revision. All
 * capabilities are removed, so that root has no additional rights either.
 */
function userFlags({ kind }: ContainerCommand): string[] {
  const [uid = 0, gid = 0] = [process.getuid?.(), process.getgid?.()]
  return ['--user', `${uid}:${gid}`, ...(uid === 0 || kind === 'docker' ? [] : ['--userns', 'keep-id'])]
}

/**
 * Limit of open files. Without this limit, runtimes set one above that of the server, and some machines refuse that.
 */
const OPEN_FILES = 4096
const USER_PROCESSES = 4096

/** Returns the mounts of all paths that exist, without paths in a mounted folder. */
async function mountsOf({ system, others, hidden }: VisibleFiles): Promise<string[]> {
  const all = [...system, ...others]
  const isInside = (path: string): boolean => all.some((one) => one !== path && path.startsWith(`${one}/`))
  const mounts: string[] = []
  for (const path of all.filter((one) => !isInside(one)))
    if ((await stat(path).catch(() => undefined)) !== undefined) mounts.push('--volume', `${path}:${path}:ro`)
  return isInside(hidden) ? [...mounts, '--tmpfs', hidden] : mounts
}

/**
 * Creates the image, which has only empty folders and the links of this machine. Its name is the hash of its content,
 * so that an image is created once.
 */
async function ensureImage(command: ContainerCommand, { links }: VisibleFiles): Promise<string> {
  const image = `localhost/weir-host:${hashOf(JSON.stringify([FOLDERS, links]))}`
  const isThere = await ask(command, ['image', 'inspect', image]).then(
    () => true,
    () => false,
  )
  if (isThere) return image
  const folder = await mkdtemp(join(tmpdir(), 'weir-image-'))
  try {
    const root = join(folder, 'root')
    for (const name of FOLDERS) await mkdir(join(root, name), { recursive: true, mode: 0o755 })
    for (const { path, target } of links) {
      await mkdir(join(root, path, '..'), { recursive: true })
      await symlink(target, join(root, path))
    }
    const file = join(folder, 'image.tar')
    await promisify(execFile)('tar', ['--owner=0', '--group=0', '-C', root, '-cf', file, '.'])
    await ask(command, ['import', file, image])
    return image
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs Node as hosts run it; rejects when that does not work. */
async function probe(confine: Binds, { PATH = '' }: VisibleFilesOptions['env']): Promise<void> {
  const limits = { memory_bytes: 256 << 20, cpus: 1 }
  const command = { file: process.execPath, args: ['--version'], cwd: '/tmp', env: { PATH } }
  const tried = confine(
    { read: [], write: [] },
    limits,
  )({
    ...command,
    reach: [],
    socketFolders: [],
    hasChannel: false,
  })
  try {
    await promisify(execFile)(tried.file, [...tried.args], { timeout: PROBE_MS, env: tried.env })
  } finally {
    await tried.container?.remove()
  }
}

async function removeLeftovers(command: ContainerCommand, label: string): Promise<void> {
  const { stdout } = await ask(command, ['ps', '--all', '--quiet', '--filter', `label=${label}`])
  const ids = stdout.split('\n').filter((id) => id !== '')
  if (ids.length > 0) await ask(command, ['rm', '--force', ...ids])
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function printedBy(error: unknown): string {
  const { stderr = '', message } = error as Error & { stderr?: string }
  return (stderr.trim() || message).slice(0, 500)
}
