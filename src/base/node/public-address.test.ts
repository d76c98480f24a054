import type { LookupAddress, LookupOptions } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { createPublicAddressCheck, PrivateAddressError, publicLookup } from './public-address.ts'

it('public addresses are those of the internet', () => {
  const isPublic = createPublicAddressCheck()
  const no = [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
  ]
  const neither = [
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '64:ff9b::7f00:1',
    '::ffff:0:7f00:1',
    'fec0::1',
    '2001:10::1',
    '3fff::1',
    '4000::1',
    'fe80::1%lo',
    'x',
  ]
  expect([...no, ...neither].filter(isPublic)).toEqual([])
  const yes = ['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1']
  expect(yes.filter(isPublic)).toEqual(yes)
})

describe('the look-up of a name', () => {
  /** The result of a request to `attacker.example`, if successive look-ups return these addresses. */
  async function lookUp(...answers: string[][]): Promise<unknown[]> {
    let asked = 0
    const resolve = (_name: string, _options: LookupOptions, done: (e: null, all: LookupAddress[]) => void) =>
      done(
        null,
        (answers[asked++] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    const lookup = publicLookup(createPublicAddressCheck(), resolve as never)
    const told = await new Promise((done) =>
      lookup('attacker.example', { all: true }, (error, addresses) => done(error ?? addresses)),
    )
    return [asked, told]
  }

  it('is the same for the check and the connection: a later answer is not used', async () => {
    expect(await lookUp(['1.1.1.1'], ['127.0.0.1'])).toEqual([1, [{ address: '1.1.1.1', family: 4 }]])
  })

  it.each([
    ['one of several', ['1.1.1.1', '10.0.0.1']],
    ['an IPv4 address as an IPv6 one', ['::ffff:169.254.169.254']],
    ['none', []],
  ])('refuses %s', async (_what, addresses) => {
    expect(await lookUp(addresses)).toEqual([1, expect.any(PrivateAddressError)])
  })
})
