import { useEffect, useState } from 'react'
import { Chip } from '../controls.tsx'
import { bytesText } from '../format/numbers.ts'
import { RemoteMedia } from '../markdown/outer-link.tsx'
import type { Block } from '../../api/messages.ts'
import css from './chat.module.css'

/** Types that are shown or played; SVG is not among them, because it may contain code. */
const DRAWN = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/
const HEARD = /^audio\/[\w.+-]+$/
const SEEN = /^video\/[\w.+-]+$/

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Bytes and type of a base64 text or a data: URL; undefined when it is neither. */
function decode(base64: string, type: string): Blob | undefined {
  const [, named, data] = /^data:([\w.+/-]+)?;base64,(.*)$/s.exec(base64) ?? []
  try {
    const signs = atob(data ?? base64)
    const bytes = new Uint8Array(signs.length)
    // A callback for each byte would block the page for a second with 10 MB.
    for (let at = 0; at < signs.length; at += 1) bytes[at] = signs.charCodeAt(at)
    return new Blob([bytes], { type: named ?? type })
  } catch {
    return undefined
  }
}

/** The address of a blob while the component is shown. */
function useBlobUrl(blob: Blob): string {
  const [url] = useState(() => URL.createObjectURL(blob))
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return url
}

/** True for types that BlobView shows or plays. */
export function isShown(type: string): boolean {
  return DRAWN.test(type) || HEARD.test(type) || SEEN.test(type)
}

/** A picture, sound or film; other types are offered for saving. */
export function BlobView({ blob, kind }: { blob: Blob; kind: string }) {
  const url = useBlobUrl(blob)
  const what = `${kind}, ${blob.type || 'unknown type'}, ${bytesText(blob.size)}`
  if (DRAWN.test(blob.type)) return <img className={css['image']} src={url} alt={what} />
  if (HEARD.test(blob.type)) return <audio controls src={url} aria-label={what} />
  if (SEEN.test(blob.type)) return <video controls src={url} className={css['image']} aria-label={what} />
  return (
    <Chip>
      {what}{' '}
      <a href={url} download={`${kind}.bin`}>
        Save
      </a>
    </Chip>
  )
}

function Inline({ base64, type, kind }: { base64: string; type: string; kind: string }) {
  const [blob] = useState(() => decode(base64, type))
  if (blob === undefined) return <Chip>{kind} that is not base64</Chip>
  return <BlobView blob={blob} kind={kind} />
}

const DEFAULT_TYPES: Readonly<Record<string, string>> = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
}

/** An image, audio, video or file of a message. Nothing is loaded from other sites. */
export function Media({ block }: { block: Block }) {
  const kind = block.type
  const type = textOf(block['mime_type']) ?? DEFAULT_TYPES[kind] ?? 'application/octet-stream'
  const url = textOf(block['url'])
  const base64 = textOf(block['base64']) ?? (url?.startsWith('data:') === true ? url : undefined)
  if (base64 !== undefined) return <Inline base64={base64} type={type} kind={kind} />
  if (url !== undefined) return <RemoteMedia href={url} what={kind} />
  return (
    <Chip>
      {kind} {textOf(block['id'])}
    </Chip>
  )
}
