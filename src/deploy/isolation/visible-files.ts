import { lstat, readlink, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { childEntry } from '../../base/child-entry.ts'
import { findPython } from '../build/find-python.ts'
import { findReachable } from './find-program.ts'

/** A symbolic link that is visible to isolated processes. */
export interface VisibleLink {
  path: string
  target: string
}

/** The files of this machine that isolated processes can read but not write, besides the folder of their revision. */
export interface VisibleFiles {
  /** Folders and files of the system, at their own paths; all of them exist. */
  system: string[]
  /** Programs, packages, certificates and Weir's code, at their own paths; some may not exist. */
  others: string[]
  links: VisibleLink[]
  /** The folder that cannot be read, even inside a readable one. */
  hidden: string
}

export interface VisibleFilesOptions {
  env: Readonly<Record<string, string | undefined>>
  /** Folder of the packages that deployed code uses without installing them. */
  packages: string
  dataDir: string
}

const SYSTEM_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
const SYSTEM_FILES = [
  ...['resolv.conf', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf', 'services', 'protocols'],
  ...['passwd', 'group', 'localtime', 'mime.types', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d'],
  ...['ssl/certs', 'ssl/openssl.cnf', 'pki/tls/certs', 'pki/ca-trust', 'ca-certificates', 'alternatives'],
].map((name) => `/etc/${name}`)
/** Programs of builds that may be installed outside of /usr. */
const TOOLS = ['node', 'npm', 'pnpm', 'yarn', 'uv']
/** Variables with paths of files that must be readable. */
const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']

/** The system, Node, Python, the programs of builds, and Weir's code. */
export async function visibleFiles({ env, dataDir, packages }: VisibleFilesOptions): Promise<VisibleFiles> {
  const code = fileURLToPath(new URL('..', new URL('..', childEntry('graph-host'))))
  const root = dirname(code)
  const own = ['package.json', 'tsconfig.json', 'schemas', 'hosts', 'node_modules'].map((name) =>
    join(root, name),
  )
  const certificates = CERTIFICATES.flatMap((name) => env[name] || [])
  const tools = await Promise.all(TOOLS.map((name) => programFiles(name, env)))
  const python = await findPython(env)
  const folders = await Promise.all(SYSTEM_FOLDERS.map(systemFolder))
  const others = [
    ...SYSTEM_FILES,
    ...tools.flatMap(({ files }) => files),
    process.execPath,
    ...(python === undefined ? [] : [python.prefix]),
    code,
    ...own,
    packages,
    ...certificates,
  ]
  // A link in a visible folder is visible already.
  const links = tools
    .flatMap((tool) => tool.links)
    .filter(({ path }) => !others.some((file) => path.startsWith(`${file}/`)))
  return {
    system: ['/usr', ...folders.flatMap(({ folder }) => folder ?? [])],
    others: [...new Set(others)],
    links: [...folders.flatMap(({ link }) => link ?? []), ...links],
    hidden: await realpath(dataDir),
  }
}

async function systemFolder(path: string): Promise<{ folder?: string; link?: VisibleLink }> {
  const stats = await lstat(path).catch(() => undefined)
  if (stats?.isSymbolicLink()) return { link: { path, target: await readlink(path) } }
  return stats === undefined ? {} : { folder: path }
}

/**
 * The files of a program. A program may be a link: npm's programs are links into the folder of a package, from which
 * they read further files. The link is then visible too.
 */
async function programFiles(
  name: string,
  env: VisibleFilesOptions['env'],
): Promise<{ files: string[]; links: VisibleLink[] }> {
  const path = await findReachable(name, env)
  if (path === undefined || path.startsWith('/usr/') || path.startsWith('/bin/'))
    return { files: [], links: [] }
  const target = await realpath(path)
  if (target === path) return { files: [path], links: [] }
  const [, ofPackage = target] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(target) ?? []
  return { files: [ofPackage], links: [{ path, target }] }
}
