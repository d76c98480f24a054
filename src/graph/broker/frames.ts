import type { ErrorCode } from '../../base/errors.ts'

/** The operations that a host may request (P-25). */
export type BrokerOperationName = 'get' | 'list' | 'marks' | 'put' | 'put_writes' | 'store_batch'

/** Frames from a host: first `open` with the host's token, then requests. The answers may come in any order. */
export type ToBroker =
  | { op: 'open'; token: string }
  | ({ op: BrokerOperationName; id: number } & Record<string, unknown>)

/** The answer to a request: `body` and the parts of the frame, or the reason for a refusal. */
export type FromBroker =
  | { id: number; body: Record<string, unknown> }
  | { id: number; refused: { code: ErrorCode; message: string } }

/** The content of a frame. Values are in the parts, which the broker passes on unparsed. */
export interface BrokerMessage {
  body: Record<string, unknown>
  parts: readonly (string | Uint8Array)[]
}

/** One operation on the storage of a deployment. `body` and `parts` come from the host, which is not trusted. */
export type BrokerOperation = (
  body: Readonly<Record<string, unknown>>,
  parts: readonly Buffer[],
) => Promise<BrokerMessage>

export type BrokerOperations = Readonly<Record<BrokerOperationName, BrokerOperation>>

/** Maximum bytes of a frame, for requests and answers. */
export const MAX_BROKER_FRAME: number = 256 << 20
/** Maximum bytes of the head of a request, which names the rows to store: about 10,000. */
export const MAX_BROKER_HEAD: number = 2 << 20

/** Options with which a host connects to the broker; part of the host's first message. */
export interface BrokerPlace {
  socket: string
  token: string
}
