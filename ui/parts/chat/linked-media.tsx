import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { send } from '../../api/call.ts'
import type { MediaLink } from '../../api/media.ts'
import { Button, Chip } from '../controls.tsx'
import { bytesText } from '../format/numbers.ts'
import { BlobView, isShown } from './media.tsx'

/** Larger files are loaded on a click. */
const MOST_SHOWN_BYTES = 8 << 20

async function readMedia(link: MediaLink, type: string, signal: AbortSignal): Promise<Blob> {
  return new Blob([await (await send(link.$media, { signal })).arrayBuffer()], { type })
}

/** A file inside a run: images, audio and video are loaded once they are visible, others on a click. */
export function LinkedMedia({ link, type, kind }: { link: MediaLink; type: string; kind: string }) {
  const place = useRef<HTMLSpanElement>(null)
  const [isWanted, want] = useState(false)
  const loadsItself = isShown(type) && link.size <= MOST_SHOWN_BYTES
  useEffect(() => {
    const at = place.current
    if (at === null || !loadsItself) return undefined
    const seen = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) want(true)
    })
    seen.observe(at)
    return () => seen.disconnect()
  }, [loadsItself])
  const { data, error } = useQuery({
    queryKey: ['media', link.$media, type],
    queryFn: ({ signal }) => readMedia(link, type, signal),
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (data !== undefined) return <BlobView blob={data} kind={kind} />
  return (
    <span ref={place}>
      <Chip>
        {kind}, {type}, {bytesText(link.size)} {error?.message}
      </Chip>{' '}
      {!isWanted && !loadsItself && <Button onClick={() => want(true)}>Load</Button>}
    </span>
  )
}
