import { expect, it } from 'vitest'
import { attachmentUrl, isSigned, linkExpiry, shareUrl } from './run-links.ts'

const LINKS = {
  address: 'https://weir.example',
  workspace_id: '11111111-1111-4111-8111-111111111111',
  share_tokens: new Map([['trace', 'token']]),
  key: 'secret',
  expires: 7_200_000,
}
const RUN = '22222222-2222-4222-8222-222222222222'

it('only a shared trace has a link', () => {
  expect(shareUrl(LINKS, 'trace')).toBe('https://weir.example/public/token/r')
  expect(shareUrl(LINKS, 'other')).toBeNull()
})

it('links expire one to two hours later, and are the same for an hour', () => {
  expect(linkExpiry(0)).toBe(7_200_000)
  expect(linkExpiry(3_599_999)).toBe(7_200_000)
  expect(linkExpiry(3_600_000)).toBe(10_800_000)
})

it('a signature is valid for one attachment of one run, one time and one key', () => {
  const name = 'a/ß \ud800'
  const url = new URL(attachmentUrl(LINKS, RUN, name))
  expect(decodeURIComponent(url.pathname.split('/').at(-1)!)).toBe('a/ß \ufffd')
  const signature = url.searchParams.get('signature')!
  const link = { workspace_id: LINKS.workspace_id, run_id: RUN, name: 'a/ß \ufffd', expires: LINKS.expires }
  expect(isSigned(link, signature, 'secret')).toBe(true)
  expect(isSigned(link, signature, 'other')).toBe(false)
  expect(isSigned({ ...link, expires: link.expires + 1 }, signature, 'secret')).toBe(false)
  expect(isSigned({ ...link, name: 'a' }, signature, 'secret')).toBe(false)
  expect(isSigned({ ...link, workspace_id: RUN }, signature, 'secret')).toBe(false)
  expect(isSigned(link, signature.slice(1), 'secret')).toBe(false)
})
