/** One package of package-lock.json, with the fields that these scripts read. */
export interface LockEntry {
  version?: string
  resolved?: string
  license?: string
  dev?: boolean
  optional?: boolean
  os?: string | string[]
  cpu?: string | string[]
  libc?: string[]
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
}

/** Packages of a lock file by their path, e.g. `node_modules/chdb`. */
export type LockPackages = Record<string, LockEntry>

const PLATFORM =
  /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|x64|ppc64|riscv64|s390x|ia32)(?:-(\w+))?$/
const LIBC: Record<string, string> = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl', musleabihf: 'musl' }

/** os, cpu and libc according to a package's name, such as `@chdb/lib-linux-arm64-gnu`. */
function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> | undefined {
  if (name.endsWith('-wasm32-wasi')) return { cpu: ['wasm32'] }
  const [, os, cpu, abi] = PLATFORM.exec(name) ?? []
  if (os === undefined || cpu === undefined) return undefined
  const libc = LIBC[abi ?? '']
  return libc === undefined ? { cpu: [cpu], os: [os] } : { cpu: [cpu], libc: [libc], os: [os] }
}

/** Whether the lock has `name` where Node looks it up, from `path` upwards. */
function isLocked(packages: LockPackages, path: string, name: string): boolean {
  let at = path
  for (;;) {
    if (packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`] !== undefined) return true
    if (at === '') return false
    at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))
  }
}

/**
 * Entries, by path, for the platform packages that the lock lacks. If a registry does not have these packages, npm
 * writes a lock without them. `npm ci` refuses such a lock, and the package is missing on other platforms (decision
 * D-2). Throws for an optional package whose name contains no platform.
 */
export function missingPlatformPackages(packages: LockPackages): LockPackages {
  const missing: LockPackages = {}
  for (const [path, parent] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      if (isLocked(packages, path, name)) continue
      const platform = platformOf(name)
      if (platform === undefined)
        throw new Error(`${name} is not in the lock, and its name tells no platform`)
      const { cpu, libc, os } = platform
      missing[`node_modules/${name}`] = {
        version: version.replace(/^[~^]/, ''),
        ...(cpu && { cpu }),
        ...(parent.dev === true && { dev: true }),
        ...(libc && { libc }),
        ...(parent.license !== undefined && { license: parent.license }),
        optional: true,
        ...(os && { os }),
      }
    }
  }
  return missing
}
