import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { CLIENT_MS, runClient } from './run-client.ts'
import { expectInTable, type Row } from './table.ts'
import { useClients } from './use-clients.ts'

/** Clients that have packages of their own, each in the folder `name`. */
const CLIENTS = [
  { name: 'genkit', title: 'Genkit', file: process.execPath, args: ['client.mjs'] },
  { name: 'mastra', title: 'Mastra', file: process.execPath, args: ['client.mjs'] },
  { name: 'spring-ai', title: 'Spring AI', file: 'java', args: ['-jar', 'target/client.jar'] },
] as const

/** The copy of a client's folder in which its packages are installed. */
const copyOf = (name: string): string => fileURLToPath(new URL(`../../.clients/${name}`, import.meta.url))

/**
 * The content of all files of a client's folder. `test/instrumentations/install` writes the same text after an
 * installation.
 */
function contentOf(name: string): string {
  const root = fileURLToPath(new URL(name, import.meta.url))
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => relative(root, join(entry.parentPath, entry.name)))
  return paths
    .toSorted()
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('')
}

function isInstalled({ name }: (typeof CLIENTS)[number]): boolean {
  const installed = join(copyOf(name), '.installed')
  return existsSync(installed) && readFileSync(installed, 'utf8') === contentOf(name)
}

const skipped = CLIENTS.filter((client) => !isInstalled(client)).map(({ title }) => title)
const without = skipped.length === 0 ? '' : ` (without ${skipped.join(', ')}: not installed)`
// Java or Maven's registry may be missing.
const mayMiss = (title: string): boolean => title === 'Spring AI'
const mustRun = process.env['CI'] === '1'

describe.skipIf(skipped.length === CLIENTS.length && !mustRun)(
  `instrumentations with packages of their own${without}`,
  () => {
    const current = useClients()

    const rows: Row[] = []

    for (const client of CLIENTS.filter(isInstalled)) {
      const { name, title, file, args } = client
      const runs = async () =>
        rows.push(await runClient({ title, file, args, cwd: copyOf(name), project: name }, current()))
      it(`${title} runs`, runs, CLIENT_MS)
    }

    it('are read as docs/using/instrumentations.md says', async () => {
      if (mustRun) expect(skipped.filter((title) => !mayMiss(title))).toEqual([])
      await expectInTable('packages', rows, skipped)
    })
  },
)
