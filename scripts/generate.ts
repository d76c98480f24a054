import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { generateConfigurationPage, generateEnvExample, generateErrorsPage } from './generate/docs.ts'
import { generatePermissionsPage } from './generate/permissions.ts'
import { generateTypes } from './generate/types.ts'
import { generateErrorTexts, generateUiTypes } from './generate/ui-types.ts'
import { packageVersion } from '../src/base/node/package-version.ts'
import { openApiDocument } from '../src/http/api/openapi.ts'
import { platformRoutes } from '../src/http/platform/routes.ts'
import { printedIn } from './check/deploy/printed.ts'
import { cruiseSources, withDiagram } from './check/wall-rules.ts'

const ROOT = new URL('../', import.meta.url)

/** `--check` leaves this page to `npm run check:walls`, which reads all imports anyway. */
const ARCHITECTURE = 'ARCHITECTURE.md'

type Makers = Record<string, () => Promise<string | undefined> | string>

/** Files of types, which git ignores, and the function that makes the content of each. */
const TYPES: Makers = {
  'src/schema/types.gen.ts': () => generateTypes(new URL('schemas/', ROOT)),
  'ui/api/platform.gen.ts': () => generateUiTypes(openApiDocument(platformRoutes(), packageVersion())),
}

/** Every committed generated file, and the function that makes its content. */
const COMMITTED: Makers = {
  'docs/operating/configuration.md': () => generateConfigurationPage(),
  'ui/api/error-texts.gen.ts': () => generateErrorTexts(),
  'docs/api/errors.md': () => generateErrorsPage(),
  'docs/api/permissions.md': () => generatePermissionsPage(),
  '.env.example': () => generateEnvExample(),
  'deploy/helm/weir-alerts.yml': () => generateAlerts(),
  [ARCHITECTURE]: () => generateArchitecture(),
  'CONTRIBUTING.md': () => generateContributing(),
}

/** The alerts of the guide, for the chart. */
async function generateAlerts(): Promise<string | undefined> {
  const page = 'docs/operating/guide.md'
  const blocks = printedIn(page, (await current(page)) ?? '')
  return blocks.find(({ text }) => text.startsWith('groups:'))?.text
}

async function generateArchitecture(): Promise<string | undefined> {
  const text = await current(ARCHITECTURE)
  return text && withDiagram(text, cruiseSources())
}

const SLOWEST = /(<!-- slowest -->\n)[\s\S]*?(<!-- \/slowest -->)/
const SLOWEST_COUNT = 20

/** CONTRIBUTING.md with the slowest files of test/times.json between `<!-- slowest -->` and `<!-- /slowest -->`. */
async function generateContributing(): Promise<string | undefined> {
  const text = await current('CONTRIBUTING.md')
  // The build of the image, which makes only the types, does not have the tests.
  const { readTimes } = await import('./test/times.ts')
  const { short, long } = readTimes()
  const rows = [...Object.entries(short), ...Object.entries(long)]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, SLOWEST_COUNT)
    .map(([file, seconds]) => `| \`${file}\` | ${seconds} |\n`)
  return text?.replace(
    SLOWEST,
    (_, open: string, close: string) => `${open}| File | s |\n|---|---|\n${rows.join('')}${close}`,
  )
}

async function current(path: string): Promise<string | undefined> {
  return await readFile(new URL(path, ROOT), 'utf8').catch(() => undefined)
}

/**
 * Writes the files that are out of date. With `--check`, only prints their names, and fails if there are any. With
 * `--types`, only for the files of types.
 */
async function main(): Promise<void> {
  const onlyCheck = process.argv.includes('--check')
  const wanted = process.argv.includes('--types') ? TYPES : { ...TYPES, ...COMMITTED }
  const stale: string[] = []
  for (const [path, make] of Object.entries(wanted)) {
    if (onlyCheck && path === ARCHITECTURE) continue
    const text = await make()
    if (text === undefined || text === (await current(path))) continue
    stale.push(path)
    if (onlyCheck) continue
    const file = new URL(path, ROOT)
    await mkdir(dirname(file.pathname), { recursive: true })
    await writeFile(file, text)
  }
  if (onlyCheck && stale.length > 0) {
    console.error(`stale: ${stale.join(', ')}. Run: npm run generate`)
    process.exitCode = 1
  } else {
    console.log(stale.length === 0 ? 'all fresh' : `${onlyCheck ? 'stale' : 'written'}: ${stale.join(', ')}`)
  }
}

await main()
