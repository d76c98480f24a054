import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../base/errors.ts'
import type { Principal } from '../../../identity/principal.ts'
import { newSecret } from '../../../identity/browser-sessions.ts'
import { sentKeyOf } from '../../server/credentials.ts'
import { createExchange, type Exchange } from '../../server/exchange.ts'
import { ServerResponse } from '../../../base/node/http.ts'
import { withholdCredentials } from './withhold-credentials.ts'

const HOME = 'home'
/** Keys by the workspaces that they open. */
const KEYS: Readonly<Record<string, string[]>> = {
  key_of_this_workspace: [HOME],
  key_of_two_workspaces: [HOME, 'other'],
  key_of_others: ['other'],
}
const keys = {
  authenticate({ key = '' }: { key?: string | undefined }): Principal {
    const workspace_ids = KEYS[key]
    if (workspace_ids === undefined) throw new AppError('unauthorized')
    if (!workspace_ids.includes(HOME)) throw new AppError('forbidden')
    return { workspace_ids } as unknown as Principal
  },
}
const SESSION = `weir_session_1984=${newSecret()}`

async function withheld(rawHeaders: string[], check: { keys?: typeof keys } = { keys }): Promise<Exchange> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers[(rawHeaders[at] ?? '').toLowerCase()] ??= rawHeaders[at + 1] ?? ''
  const req = { url: '/', headers, rawHeaders: [...rawHeaders] } as unknown as IncomingMessage
  const exchange = createExchange(req, new ServerResponse(req))
  await withholdCredentials(exchange, { keys: check.keys, tenant: { workspace_id: HOME } })
  return exchange
}

describe('D-64: credentials of a request', () => {
  it.each([
    [['Cookie', SESSION], []],
    [
      ['Cookie', `a=1; ${SESSION}; b=2`],
      ['cookie', 'a=1; b=2'],
    ],
    [
      ['cookie', 'a=1;b=2'],
      ['cookie', 'a=1;b=2'],
    ],
    [
      ['X-Api-Key', 'key_of_this_workspace'],
      ['X-Api-Key', 'key_of_this_workspace'],
    ],
    [['X-Api-Key', 'key_of_this_workspace', 'Cookie', SESSION], []],
    [['X-Api-Key', 'key_of_two_workspaces'], []],
    [['X-Api-Key', 'key_of_others'], []],
    [
      ['x-api-key', 'token_of_the_app', 'cookie', SESSION],
      ['x-api-key', 'token_of_the_app'],
    ],
    [['Authorization', 'Bearer key_of_this_workspace', 'authorization', 'Bearer two'], []],
    [['Authorization', `Basic ${btoa('x:key_of_others')}`], []],
    [
      ['Authorization', 'Bearer token'],
      ['Authorization', 'Bearer token'],
    ],
    [
      ['Authorization', 'Digest a="b"', 'accept', '*/*'],
      ['Authorization', 'Digest a="b"', 'accept', '*/*'],
    ],
  ])('deployed code gets of %j only %j', async (sent, left) => {
    const { req } = await withheld(sent)
    expect(req.rawHeaders).toEqual(left)
    expect(Object.keys(req.headers)).toEqual(
      left.filter((_text, at) => at % 2 === 0).map((name) => name.toLowerCase()),
    )
  })

  it('are also found in a header that is sent twice', async () => {
    const key = 'key_of_two_workspaces'
    // Node joins the values of such a header.
    const { req, withheld: kept } = await withheld(['x-api-key', `${key}, ${key}`])
    expect(req.rawHeaders).toEqual([])
    expect(kept).toEqual({ 'x-api-key': `${key}, ${key}` })
  })

  it('still identify the caller', async () => {
    expect(sentKeyOf(await withheld(['x-api-key', 'key_of_two_workspaces']))).toBe('key_of_two_workspaces')
    const { withheld: kept } = await withheld(['cookie', `a=1; ${SESSION}`])
    expect(kept).toEqual({ cookie: `a=1; ${SESSION}` })
  })

  it('with AUTH=off no text is a key', async () => {
    const sent = ['x-api-key', 'key_of_two_workspaces', 'authorization', 'Bearer key_of_others']
    expect((await withheld(sent, {})).req.rawHeaders).toEqual(sent)
  })

  it('are withheld from a request that fails because nobody can say whether they are keys', async () => {
    const away = {
      authenticate: () => {
        throw new AppError('store_unavailable')
      },
    }
    await expect(withheld(['x-api-key', 'token_of_the_app'], { keys: away })).rejects.toThrow()
  })
})
