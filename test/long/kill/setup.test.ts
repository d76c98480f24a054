import { expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

const weir = useOwnWeir()
const MEMBERS = 400

interface Plan {
  steps: { action: string }[]
}

const document = (round: number): string => {
  const members = Array.from(
    { length: MEMBERS },
    (_, i) => `  - {email: m${round}-${i}@acme.test, role: user}`,
  )
  return `version: 1\nworkspaces:\n  - {name: round ${round}}\nmembers:\n${members.join('\n')}\n`
}

const apply = (text: string, dry_run = false): Promise<Plan> =>
  weir.current().json<Plan>('/api/v1/setup', jsonBody('POST', { document: text, dry_run }))

async function toDo(text: string): Promise<number> {
  return (await apply(text, true)).steps.filter(({ action }) => action !== 'keep').length
}

it('TEAM-11: a set-up whose server is killed in the middle has changed all or nothing, and the next run ends it', async () => {
  for (const round of [1, 2, 3]) {
    const text = document(round)
    const cut = apply(text).then(
      () => 'ended',
      () => 'cut',
    )
    // When this answer has come, the server has begun to work on the set-up.
    await weir.current().fetch(`/api/v1/runs/${newUuid()}`)
    await weir.current().kill()
    await cut
    await weir.startAgain()
    expect([0, MEMBERS + 1]).toContain(await toDo(text))
    await apply(text)
    expect(await toDo(text)).toBe(0)
  }
}, 90_000) // three starts of a server
