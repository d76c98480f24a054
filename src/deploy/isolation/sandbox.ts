import { execFile } from 'node:child_process'
import { lstat, mkdir, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { childEntry } from '../../base/child-entry.ts'
import type { Confine } from '../../base/node/confined-command.ts'
import { findProgram } from './find-program.ts'

/** A sandbox that works on this machine. */
export interface Sandbox {
  /** Hosts of a revision: they read its folder, and write nowhere but to their own /tmp. */
  hosts(dir: string): Confine
  /** Builds: they write to `dir` and to `cache`. Makes `cache`. */
  builds(dir: string, cache: string): Promise<Confine>
}

/** What the sandbox is made of. */
export interface SandboxOptions {
  env: Readonly<Record<string, string | undefined>>
  /** Folder of the packages that deployed code uses without installing them. */
  packages: string
  /** Never visible in it, except for the folder of the revision. */
  dataDir: string
}

const PROBE_MS = 10_000

/** What each process has of its own; network and user's limits are shared with the server. */
const NAMESPACES = [
  ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--disable-userns', '--uid', '65534', '--gid', '65534', '--hostname', 'weir'],
  ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
]
const SYSTEM_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
const SYSTEM_FILES = [
  ...['resolv.conf', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf', 'services', 'protocols'],
  ...['passwd', 'group', 'localtime', 'mime.types', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'pki/tls/certs', 'pki/ca-trust', 'ca-certificates', 'alternatives'],
].map((name) => `/etc/${name}`)
/** Programs of builds that may be installed outside of /usr. */
const TOOLS = ['node', 'npm', 'pnpm', 'yarn']
/** Variables by which files are named that must be readable. */
const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']
/** bubblewrap itself runs with the variables of the host: these would load code into it, outside of the sandbox. */
const LOADER = /^(LD_|GCONV_PATH$|GLIBC_TUNABLES$|LOCPATH$)/

/** Finds bubblewrap and runs Node and npm in it once. Resolves with the reason when that does not work. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox | { reason: string }> {
  if (process.platform !== 'linux') return { reason: 'a sandbox needs Linux.' }
  const bwrap = await findProgram('bwrap', options.env)
  if (bwrap === undefined) return { reason: 'bwrap is not on the PATH (package bubblewrap, 0.8 or newer).' }
  const base = [...NAMESPACES, ...(await readOnlyFiles(options))]
  const confine =
    (binds: readonly string[]): Confine =>
    ({ file, args, cwd, env, reach }) => ({
      file: bwrap,
      args: [
        ...[...base, ...binds, ...reach.flatMap((path) => ['--bind', path, path])],
        ...['--chdir', cwd, '--', file, ...args],
      ],
      cwd: '/',
      env: { ...withoutLoader(env), HOME: '/tmp', TMPDIR: '/tmp' },
      reach,
    })
  const failure = await probe(confine([]), options.env)
  if (failure !== undefined) return { reason: failure }
  return {
    hosts: (dir) => confine(['--ro-bind', dir, dir]),
    async builds(dir, cache) {
      await mkdir(cache, { recursive: true })
      return confine(['--bind', dir, dir, '--bind', cache, cache])
    },
  }
}

/** Runs what builds and hosts run, once; resolves with why that does not work. */
async function probe(confine: Confine, { PATH = '' }: SandboxOptions['env']): Promise<string | undefined> {
  const programs = [process.execPath, ...((await findProgram('npm', { PATH })) === undefined ? [] : ['npm'])]
  for (const file of programs) {
    const tried = confine({ file, args: ['--version'], cwd: '/tmp', env: { PATH }, reach: [] })
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

/** The mounts that are the same for all: the system, Node, Weir's code; DATA_DIR is covered if it lies in one of them. */
async function readOnlyFiles({ env, dataDir, packages }: SandboxOptions): Promise<string[]> {
  const code = fileURLToPath(new URL('..', new URL('..', childEntry('graph-host'))))
  const root = dirname(code)
  const own = ['package.json', 'tsconfig.json', 'schemas', 'node_modules'].map((name) => join(root, name))
  const certificates = CERTIFICATES.flatMap((name) => env[name] || [])
  const tools = await Promise.all(TOOLS.map((name) => programFiles(name, env)))
  const folders = await Promise.all(SYSTEM_FOLDERS.map(systemFolder))
  const files = [
    ...SYSTEM_FILES,
    ...tools.flatMap(({ files }) => files),
    process.execPath,
    code,
    ...own,
    packages,
    ...certificates,
  ]
  // A link in a mounted folder is there already.
  const links = tools
    .flatMap((tool) => tool.links)
    .filter(({ path }) => !files.some((file) => path.startsWith(`${file}/`)))
  return [
    ...['--ro-bind', '/usr', '/usr', ...folders.flat()],
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...[...new Set(files)].flatMap((path) => ['--ro-bind-try', path, path]),
    ...links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...['--tmpfs', await realpath(dataDir)],
  ]
}

async function systemFolder(path: string): Promise<string[]> {
  const stats = await lstat(path).catch(() => undefined)
  if (stats?.isSymbolicLink()) return ['--symlink', await readlink(path), path]
  return stats === undefined ? [] : ['--ro-bind', path, path]
}

/**
 * The files of a program, and its link if it is one: the programs of npm are links into the folder of a package, and
 * read further files from there.
 */
async function programFiles(
  name: string,
  env: SandboxOptions['env'],
): Promise<{ files: string[]; links: { path: string; target: string }[] }> {
  const path = await findProgram(name, env)
  if (path === undefined || path.startsWith('/usr/') || path.startsWith('/bin/'))
    return { files: [], links: [] }
  const target = await realpath(path)
  if (target === path) return { files: [path], links: [] }
  const [, ofPackage = target] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(target) ?? []
  return { files: [ofPackage], links: [{ path, target }] }
}

function withoutLoader(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !LOADER.test(name)))
}
