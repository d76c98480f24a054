import { lazy, Suspense } from 'react'
import { documentsOf } from '../../../parts/chat/documents.ts'
import { firstEntries } from '../../../parts/json/json-text.ts'
import { Skeleton } from '../../../parts/states.tsx'
import { RunSection } from './section.tsx'

const Payload = lazy(() =>
  import('../../../parts/chat/payload.tsx').then((file) => ({ default: file.Payload })),
)

/** Inputs or outputs without messages of a model call. */
export function PayloadSection({
  title,
  value,
  path,
  isMarkdown,
  inputs,
}: {
  title: string
  value: unknown
  path: string
  isMarkdown: boolean
  /** For outputs: the inputs of the same run. */
  inputs?: unknown
}) {
  const count = documentsOf(value).length
  const isEmpty = typeof value === 'object' && firstEntries(value, 0).count === 0
  if (value === null || value === undefined || isEmpty) return null
  return (
    <RunSection title={title} note={count > 0 ? `${count} documents` : undefined}>
      <Suspense fallback={<Skeleton />}>
        <Payload {...{ value, path, isMarkdown, inputs }} />
      </Suspense>
    </RunSection>
  )
}
