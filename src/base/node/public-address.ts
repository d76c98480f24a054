import { lookup as resolveName } from 'node:dns'
import { BlockList, isIPv4, type LookupFunction } from 'node:net'

/** Networks outside of the public internet (IANA special-purpose registries). */
const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** The IPv6 range of the public internet, and the parts of it that are not public or lead to IPv4 addresses. */
const GLOBAL_V6 = ['2000::/3']
const PRIVATE_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

function blockList(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Returns a function that decides whether an address is public; an IPv4 address in IPv6 form is checked as IPv4. */
export function createPublicAddressCheck(): (address: string) => boolean {
  const v4 = blockList(PRIVATE_V4, 'ipv4')
  const v6 = blockList(PRIVATE_V6, 'ipv6')
  const globalV6 = blockList(GLOBAL_V6, 'ipv6')
  return (address) => {
    const plain = MAPPED.exec(address)?.[1] ?? address
    if (isIPv4(plain)) return !v4.check(plain, 'ipv4')
    return globalV6.check(plain, 'ipv6') && !v6.check(plain, 'ipv6')
  }
}

export class PrivateAddressError extends Error {
  constructor(host: string) {
    super(`${host} is not a public address`)
    this.name = 'PrivateAddressError'
  }
}

/**
 * Resolves names for a request, and refuses if any of the addresses is not public. The request itself uses this
 * look-up, so that a name cannot change between the check and the connection.
 */
export function publicLookup(
  isPublic: (address: string) => boolean,
  resolve: typeof resolveName = resolveName,
): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '')
      const first = addresses[0]
      if (first === undefined || !addresses.every(({ address }) => isPublic(address))) {
        return done(new PrivateAddressError(hostname), '')
      }
      if (options.all === true) return done(null, addresses)
      return done(null, first.address, first.family)
    })
  }
}
