import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { type Frame, openChannel } from '../../../../src/graph/pool/channel.ts'
import type { FromHost, OpenHost, ToHost } from '../../../../src/graph/pool/messages.ts'
import type { HostLaunch } from '../../../../src/graph/pool/process.ts'
import { eventually } from '../../eventually.ts'

type Head<Type extends FromHost['type']> = Extract<FromHost, { type: Type }>
/** A frame of the protocol, or one of an unknown type, which hosts must ignore. */
type Sent = ToHost | { type: 'of_a_later_version'; [field: string]: unknown }

/** A host without a pool, and all frames that it has sent. */
export interface HostWire {
  readonly pid: number
  readonly frames: readonly Frame<FromHost>[]
  /** Resolves with the host's exit code, or with the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>
  send(head: Sent, parts?: readonly string[]): void
  /** Writes bytes as they are. */
  write(bytes: Uint8Array): void
  /** Closes the server's end of the channel. */
  close(): void
  /** Resolves with the first frame of a type; for a job or a call, with the first that has its id. */
  next<Type extends FromHost['type']>(type: Type, id?: number): Promise<Frame<Head<Type>>>
  /** Types of the frames of a job or a call, in order; adjacent frames of the same type count once. */
  typesOf(id: number): string[]
}

/** Starts the program of a host; `message` is sent at once to open it. */
export function openHostWire({ command, cwd, env }: HostLaunch, message?: OpenHost): HostWire {
  const child = spawn(command.file, command.args, { cwd, env, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  const stream = child.stdio[3] as Duplex
  const frames: Frame<FromHost>[] = []
  const channel = openChannel<FromHost, Sent>(stream, (frame) => void frames.push(frame))
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  if (message !== undefined) channel.send(message)
  return {
    pid: child.pid ?? 0,
    frames,
    exited,
    send: (head, parts) => channel.send(head, parts),
    write: (bytes) => void stream.write(bytes),
    close: () => void stream.destroy(),
    next: (type, id) =>
      eventually(async () => {
        const isWanted = ({ head }: Frame<FromHost>) =>
          head.type === type && (id === undefined || idOf(head) === id)
        const found = frames.find(isWanted)
        if (found === undefined) throw new Error(`the host has not sent ${type}`)
        return found as Frame<Head<typeof type>>
      }),
    typesOf: (id) =>
      frames
        .filter(({ head }) => idOf(head) === id)
        .map(({ head }) => head.type)
        .filter((type, n, all) => type !== all[n - 1]),
  }
}

function idOf(head: FromHost): number | null | undefined {
  return 'id' in head ? head.id : undefined
}
