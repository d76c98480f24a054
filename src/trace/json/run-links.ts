import { createHmac, timingSafeEqual } from 'node:crypto'

export interface AttachmentLinks {
  /** URL of the server, without a trailing slash. */
  address: string
  workspace_id: string
  key: string
  /** Expiry time of attachment links, epoch milliseconds. */
  expires: number
}

export interface RunLinks extends AttachmentLinks {
  /** Tokens of shared traces, by trace id. */
  share_tokens: ReadonlyMap<string, string>
}

/** An attachment that can be read without a key until `expires`, epoch milliseconds. */
export interface LinkedAttachment {
  workspace_id: string
  run_id: string
  name: string
  expires: number
}

const HOUR_MS = 3_600_000

/** Expiry time of links made at `now`: one to two hours later, and equal for an hour, so that browsers can cache. */
export function linkExpiry(now: number): number {
  return (Math.floor(now / HOUR_MS) + 2) * HOUR_MS
}

/** The address of a shared trace in the browser, in the form of the clients; null if the trace is not shared. */
export function shareUrl({ address, share_tokens }: RunLinks, trace_id: string): string | null {
  const token = share_tokens.get(trace_id)
  return token === undefined ? null : `${address}/public/${token}/r`
}

/** Link to an attachment that needs no key. */
export function attachmentUrl(links: AttachmentLinks, run_id: string, name: string): string {
  const { address, workspace_id, expires, key } = links
  const signature = sign({ workspace_id, run_id, name, expires }, key)
  const query = new URLSearchParams({ workspace_id, expires: String(expires), signature })
  return `${address}/api/v1/public/attachments/${run_id}/${encodeURIComponent(name.toWellFormed())}?${String(query)}`
}

function sign({ workspace_id, run_id, name, expires }: LinkedAttachment, key: string): string {
  const signed = JSON.stringify([workspace_id, run_id, name.toWellFormed(), expires])
  return createHmac('sha256', key).update(signed).digest('hex')
}

/** Whether the signature is valid for the key; the expiry is not checked. */
export function isSigned(link: LinkedAttachment, signature: string, key: string): boolean {
  const [sent, expected] = [Buffer.from(signature), Buffer.from(sign(link, key))]
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}
