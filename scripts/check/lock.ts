import { readFileSync, writeFileSync } from 'node:fs'
import { type LockPackages, missingPlatformPackages } from './lock-platforms.ts'

interface Manifest {
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  devDependencies: Record<string, string>
  allowScripts: Record<string, boolean>
}

const LOCK = new URL('../../package-lock.json', import.meta.url)
const MANIFEST = new URL('../../package.json', import.meta.url)

function pinProblems(manifest: Manifest, packages: LockPackages): string[] {
  const wanted = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies }
  return Object.entries(wanted).flatMap(([name, asked]) => {
    // In an alias (`npm:name@1.2.3`), the version follows the name of the package.
    const version = asked.replace(/^npm:.+@/, '')
    const locked = packages[`node_modules/${name}`]?.version
    if (!/^\d+\.\d+\.\d+/.test(version)) return [`package.json: ${name} is not pinned exactly: ${version}`]
    return locked === version ? [] : [`package-lock.json: ${name} is ${locked}, package.json has ${version}`]
  })
}

function entryProblems({ allowScripts }: Manifest, packages: LockPackages): string[] {
  return Object.entries(packages).flatMap(([path, entry]) => {
    const name = path.replace(/^.*node_modules\//, '')
    const problems: string[] = []
    if (entry.resolved !== undefined) problems.push(`package-lock.json: ${name} carries a registry address`)
    if (entry.hasInstallScript === true && allowScripts[name] === undefined) {
      problems.push(`package.json: allowScripts says nothing about ${name}`)
    }
    return problems
  })
}

/** Writes the missing platform packages into the lock, in npm's order. */
function complete(lock: { packages: LockPackages }, missing: LockPackages): void {
  const all = Object.entries({ ...lock.packages, ...missing })
  all.sort(([a], [b]) => a.localeCompare(b, 'en'))
  writeFileSync(LOCK, `${JSON.stringify({ ...lock, packages: Object.fromEntries(all) }, null, 2)}\n`)
}

/** Checks the lock. `--fix` adds platform packages that the registry of this machine lacks. */
function main(): void {
  const lock = JSON.parse(readFileSync(LOCK, 'utf8')) as { packages: LockPackages }
  const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8')) as Manifest
  let missing = missingPlatformPackages(lock.packages)
  if (process.argv.includes('--fix') && Object.keys(missing).length > 0) {
    complete(lock, missing)
    console.log(`added: ${Object.keys(missing).length}`)
    missing = {}
  }
  const problems = [
    ...Object.keys(missing).map((path) => `package-lock.json: ${path} is missing (npm run fix:lock)`),
    ...pinProblems(manifest, lock.packages),
    ...entryProblems(manifest, lock.packages),
  ]
  for (const problem of problems) console.error(problem)
  console.log(`${Object.keys(lock.packages).length} packages, ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

main()
