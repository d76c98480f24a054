import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const FOLDER = fileURLToPath(new URL('../../.clients/langgraph-sdks', import.meta.url))
const WANTED = new URL('../langgraph-sdks/package-lock.json', import.meta.url)

/**
 * The reason to skip tests of LangGraph's JavaScript clients of protocol v2, for their titles; '' when they can run.
 * These clients are not dependencies of this repository. In CI the tests fail without them.
 */
export function withoutSdks(): string {
  if (process.env['CI'] === '1') return ''
  const installed = join(FOLDER, '.installed')
  const fits = existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(WANTED, 'utf8')
  return fits ? '' : ' (test/langgraph-cli/install has not been run)'
}

/** The folder of an installed package. */
export function sdkFolder(name: string): string {
  return join(FOLDER, 'node_modules', name)
}

/** A module of the installed packages. */
export async function importSdk<Module>(specifier: string): Promise<Module> {
  const place = createRequire(join(FOLDER, 'package.json')).resolve(specifier)
  return (await import(pathToFileURL(place).href)) as Module
}
