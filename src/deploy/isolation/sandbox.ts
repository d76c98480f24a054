import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { removeTree } from '../build/remove-tree.ts'
import type { Confine } from '../../base/node/confined-command.ts'
import type { HostingLimits } from '../hosting.ts'
import { findProgram } from './find-program.ts'
import { type VisibleFiles, visibleFiles, type VisibleFilesOptions } from './visible-files.ts'

/** The settings of a sandbox. In `dataDir`, its processes can read only the folder of their own revision. */
export type SandboxOptions = VisibleFilesOptions

/** The isolation that works on this machine: bubblewrap, a container runtime, or user ids. */
export interface Sandbox {
  /** The isolation of hosts of a revision, which read its folder `dir` and write only to their own `TMPDIR`. */
  hosts(dir: string, deployment: { id: string; limits: HostingLimits }): Promise<Confine>
  /** The isolation of a build, which writes to `dir` and to `cache`, or to a separate cache of the deployment. */
  builds(dir: string, deployment: { id: string; cache: string }): Promise<IsolatedBuild>
  /** Removes the sandbox's own files of a deployment whose processes have ended. */
  forget(deployment_id: string): Promise<void>
}

export interface IsolatedBuild {
  confine: Confine
  /** The folders of the server's disk, besides that of the build, in which the build writes. */
  caches: readonly string[]
  /** Ends processes that the programs of the build have left behind. */
  end(): Promise<void>
}

const PROBE_MS = 10_000

/** Namespaces of each process. Processes share only the network and the limits of the user with the server. */
const NAMESPACES = [
  ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--disable-userns', '--uid', '65534', '--gid', '65534', '--hostname', 'weir'],
  ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
]
/**
 * Variables that make a program load other code. They are removed from bubblewrap's environment, because bubblewrap
 * itself runs outside of the sandbox.
 */
const LOADER = /^(LD_|GCONV_PATH$|GLIBC_TUNABLES$|LOCPATH$)/

/** Finds bubblewrap and runs Node and npm in it once. Resolves with the reason if that does not work. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox | { reason: string }> {
  if (process.platform !== 'linux') return { reason: 'a sandbox needs Linux.' }
  const bwrap = await findProgram('bwrap', options.env)
  if (bwrap === undefined) return { reason: 'bwrap is not on the PATH (package bubblewrap, 0.8 or newer).' }
  const visible = await visibleFiles(options)
  const confine =
    (tmp: readonly string[], binds: readonly string[]): Confine =>
    ({ file, args, cwd, env, reach, socketFolders, hasChannel }) => ({
      file: bwrap,
      args: [
        ...[...NAMESPACES, ...mountsOf(visible, tmp), ...binds],
        ...reach.flatMap((path) => ['--ro-bind', path, path]),
        ...socketFolders.flatMap((path) => ['--bind', path, path]),
        ...['--chdir', cwd, '--', file, ...args],
      ],
      cwd: '/',
      env: { ...withoutLoader(env), HOME: '/tmp', TMPDIR: '/tmp' },
      reach,
      socketFolders,
      hasChannel,
    })
  const failure = await probe(confine(['--tmpfs', '/tmp'], []), options.env)
  if (failure !== undefined) return { reason: failure }
  return {
    // Files in /tmp are in memory, and no other limit counts this memory.
    hosts: async (dir, { limits: { memory_bytes } }) =>
      confine(['--size', String(memory_bytes), '--tmpfs', '/tmp'], ['--ro-bind', dir, dir]),
    async builds(dir, { cache }) {
      const tmp = temporaryOf(dir)
      await removeTree(tmp)
      for (const folder of [cache, tmp]) await mkdir(folder, { recursive: true })
      // The processes of a build end with their namespace.
      return {
        confine: confine(['--bind', tmp, '/tmp'], ['--bind', dir, dir, '--bind', cache, cache]),
        caches: [...cachesOf(dir, cache), tmp],
        // What cannot be removed now is removed together with the build's own folder.
        end: () => removeTree(tmp).catch(() => undefined),
      }
    },
    forget: async () => undefined,
  }
}

/** The folder of a build's temporary files, beside that of the build. */
export function temporaryOf(dir: string): string {
  return `${dir}.tmp`
}

/** The caches to measure beside the folder of a build: none if the cache is that folder. */
export function cachesOf(dir: string, cache: string): string[] {
  return cache === dir ? [] : [cache]
}

/** Runs the programs of builds and hosts once; resolves with the reason if that does not work. */
async function probe(confine: Confine, { PATH = '' }: SandboxOptions['env']): Promise<string | undefined> {
  const programs = [process.execPath, ...((await findProgram('npm', { PATH })) === undefined ? [] : ['npm'])]
  for (const file of programs) {
    const tried = confine({
      file,
      args: ['--version'],
      cwd: '/tmp',
      env: { PATH },
      reach: [],
      socketFolders: [],
      hasChannel: false,
    })
    try {
      await promisify(execFile)(tried.file, [...tried.args], { timeout: PROBE_MS, env: tried.env })
    } catch (error) {
      const { stderr = '', message } = error as Error & { stderr?: string }
      const printed = stderr.trim().slice(0, 500) || message
      return `bwrap does not work here with ${basename(file)}: ${printed}`
    }
  }
  return undefined
}

/** The mounts that all processes have, with `tmp` for /tmp. If DATA_DIR is inside a mount, it is hidden. */
function mountsOf({ system, others, links, hidden }: VisibleFiles, tmp: readonly string[]): string[] {
  return [
    ...system.flatMap((path) => ['--ro-bind', path, path]),
    ...['--proc', '/proc', '--dev', '/dev', ...tmp],
    ...others.flatMap((path) => ['--ro-bind-try', path, path]),
    ...links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...['--tmpfs', hidden],
  ]
}

function withoutLoader(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !LOADER.test(name)))
}
