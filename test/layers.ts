import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Test layers by folder (CONTRIBUTING.md). `long`, `field` and `properties` run only in `npm run test:long`. */
const LAYERS = {
  unit: ['{src,processors,scripts,bin,ui}/**/*.test.{ts,mjs}', 'test/instrumentations/is-within.test.ts'],
  model: ['test/model/**/*.test.ts'],
  golden: ['test/golden/**/*.test.ts'],
  contract: ['test/contract/**/*.test.ts'],
  conformance: ['test/conformance/**/*.test.ts'],
  fault: ['test/fault/**/*.test.ts'],
  long: [
    'test/long/**/*.test.ts',
    'test/instrumentations/{javascript,python,packages}.test.ts',
    ...shortenedFiles(),
  ],
  field: ['test/field/**/*.test.ts'],
}
/** Layers whose test files change no global state. These files share processes, because a process starts slowly. */
export const SHARED = ['unit', 'model', 'golden', 'contract', 'conformance', 'fault'] as const
/** Projects that `npm run test:long` runs. */
export const LONG = ['long', 'field', 'properties'] as const

/**
 * Patterns of test files by project. Processes are shared only within a project, so `npm test` runs the shared layers
 * as one project, `shared`.
 */
export const PROJECTS: Record<string, string[]> = {
  ...LAYERS,
  shared: SHARED.flatMap((layer) => LAYERS[layer]),
  properties: propertyFiles(),
}

/** Paths of the files that `npm run test:long` runs. */
export function longFiles(): string[] {
  return globSync(LONG.flatMap((name) => PROJECTS[name] ?? []))
}

/** Paths of test files in any layer that contain property tests. */
function propertyFiles(): string[] {
  return testFiles().filter((file) => readFileSync(file, 'utf8').includes('/support/properties.ts'))
}

/**
 * Paths of test files of which `npm test` runs only some tests: those that import test/support/length.ts, directly or
 * through other files of test/. Files with property tests are not among them, because the layer `properties` of
 * `npm run test:long` already runs them whole.
 */
function shortenedFiles(): string[] {
  const found = new Map<string, boolean>([['test/support/length.ts', true]])
  const isShortened = (file: string): boolean => {
    const known = found.get(file)
    if (known !== undefined) return known
    found.set(file, false)
    const imports = readFileSync(file, 'utf8').matchAll(/from '(\.[^']+\.ts)'/g)
    const inTest = [...imports]
      .map(([, path = '']) => join(dirname(file), path))
      // Tests also contain programs as text, whose imports exist nowhere.
      .filter((path) => path.startsWith('test/') && existsSync(path))
    const isOne = inTest.filter(isShortened).length > 0
    found.set(file, isOne)
    return isOne
  }
  const properties = new Set(propertyFiles())
  return testFiles().filter((file) => !properties.has(file) && isShortened(file))
}

function testFiles(): string[] {
  return globSync('{src,processors,scripts,test,ui}/**/*.test.ts')
}
