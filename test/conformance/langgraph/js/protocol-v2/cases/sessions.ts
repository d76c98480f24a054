import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A recorded session (test/golden/protocol-v2/README.md). */
export interface Session {
  about: string
  client: string
  script: string
  seen_by_client: Record<string, unknown>[]
  wire: { connection: number; kind: string; data?: { type?: string } }[]
}

const FOLDER = fileURLToPath(new URL('../../../../../golden/protocol-v2/', import.meta.url))

export const SESSIONS: ReadonlyMap<string, Session> = new Map(
  globSync('{golden,expected,faults,python-server,python-sdk}/*.json', { cwd: FOLDER })
    .toSorted()
    .map((file) => [
      file.slice(0, -'.json'.length),
      JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8')) as Session,
    ]),
)

/** Sessions outside `faults/` in which LangGraph's Python server is wrong. */
const PYTHON_FAULTS = ['python-server/next-turn', 'python-sdk/py-second', 'python-sdk/py-interrupt']

/** Sessions in which LangGraph's servers are wrong. */
export const FAULTS = [...SESSIONS.keys()].filter(
  (name) => name.startsWith('faults/') || PYTHON_FAULTS.includes(name),
)

/**
 * The session of the same script with the right outcome. `v1-join` has none: its right outcome is only in
 * differences.ts.
 */
export function rightOf(fault: string): string {
  const expected = `expected/${fault.split('/').at(-1)}`
  return SESSIONS.has(expected) ? expected : fault
}
