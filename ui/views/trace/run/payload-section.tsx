import { documentsOf, Payload } from '../../../parts/chat/payload.tsx'
import { firstEntries } from '../../../parts/json/json-text.ts'
import { RunSection } from './section.tsx'

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
      <Payload {...{ value, path, isMarkdown, inputs }} />
    </RunSection>
  )
}
