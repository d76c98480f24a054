import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import type { Line } from './tcp.ts'

const run = promisify(execFile)
/** A hardware address that no device has: packets to it are dropped, and neither side is notified. */
const NOBODY = '02:00:00:00:00:01'
const REASON = ' (needs root and network namespaces of iproute2)'

/** The reason to skip tests that need network namespaces, for their titles; '' when they can run. */
export function withoutNamespaces(): string {
  const name = `weir-try-${process.pid}`
  const can = (...args: string[]): boolean => spawnSync('ip', args).status === 0
  if (!can('netns', 'add', name)) return REASON
  const inside = ['-n', name]
  const all =
    can('netns', 'exec', name, 'true') &&
    can(...inside, 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far') &&
    can(...inside, 'addr', 'add', '10.0.0.1/30', 'dev', 'near') &&
    can(...inside, 'link', 'set', 'near', 'up') &&
    can(...inside, 'neigh', 'replace', '10.0.0.2', 'lladdr', NOBODY, 'dev', 'near', 'nud', 'permanent')
  can('netns', 'del', name)
  return all ? '' : REASON
}

/** A link between this machine and the namespace, with an address at each end. */
export interface Link {
  /** The address at the end on this machine. */
  readonly here: string
  /** The address at the end in the namespace. */
  readonly there: string
  /** Sets the state of the link: `swallow` or `pass`. Unlike with a proxy, new connections get no answer either. */
  set(line: Line): Promise<void>
}

/** A network namespace of Linux for a server under test. */
export interface Namespace {
  readonly links: readonly Link[]
  /** The beginning of a command line that executes the rest of it in the namespace. */
  readonly prefix: readonly string[]
  remove(): Promise<void>
}

/** Makes a namespace with links to this machine. All processes in it must have ended before it is removed. */
export async function makeNamespace(links: number): Promise<Namespace> {
  const name = `weir-${process.pid}`
  await run('ip', ['netns', 'add', name])
  await run('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
  return {
    links: await Promise.all(Array.from({ length: links }, (_, index) => makeLink(name, index))),
    prefix: ['ip', 'netns', 'exec', name],
    remove: async () => void (await run('ip', ['netns', 'del', name])),
  }
}

async function makeLink(namespace: string, index: number): Promise<Link> {
  // The last 14 of the at most 22 bits of the process id make the address, so that parallel tests rarely share one.
  const net = `10.${192 + ((process.pid >> 8) & 63)}.${process.pid & 255}`
  const [here, there] = [`${net}.${4 * index + 1}`, `${net}.${4 * index + 2}`]
  const [near, far] = [`wh${process.pid}-${index}`, `wn${process.pid}-${index}`]
  const inside = ['-n', namespace]
  await run('ip', ['link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', namespace])
  await run('ip', ['addr', 'add', `${here}/30`, 'dev', near])
  await run('ip', ['link', 'set', near, 'up'])
  await run('ip', [...inside, 'addr', 'add', `${there}/30`, 'dev', far])
  await run('ip', [...inside, 'link', 'set', far, 'up'])
  const setEnd = async (end: readonly string[], address: string, device: string, isCut: boolean) => {
    const cut = ['replace', address, 'lladdr', NOBODY, 'dev', device, 'nud', 'permanent']
    const change = isCut ? cut : ['del', address, 'dev', device]
    // Without an earlier packet the neighbour table has no entry, and `del` fails.
    const changing = run('ip', [...end, 'neigh', ...change])
    await (isCut ? changing : changing.catch(() => undefined))
  }
  return {
    here,
    there,
    async set(line) {
      if (line.kind === 'late' || line.kind === 'refuse') throw new TypeError(`a link cannot ${line.kind}`)
      const isCut = line.kind === 'swallow'
      await setEnd([], there, near, isCut)
      await setEnd(inside, here, far, isCut && line.only !== 'answers')
    },
  }
}
