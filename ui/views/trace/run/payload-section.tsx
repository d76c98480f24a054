import { JsonView } from '../../../parts/json/json-view.tsx'
import { firstEntries } from '../../../parts/json/json-text.ts'
import { Chip } from '../../../parts/controls.tsx'
import { PlainText } from '../../../parts/markdown/markdown.tsx'
import chat from '../../../parts/chat/chat.module.css'
import { RunSection } from './section.tsx'

interface FoundDocument {
  page_content: string
  metadata?: unknown
  score?: unknown
}

function isDocument(value: unknown): value is FoundDocument {
  return (
    typeof value === 'object' && value !== null && typeof (value as FoundDocument).page_content === 'string'
  )
}

/** Maximum number of keys among which a list of documents is searched. */
const MOST_KEYS = 100

/** Documents that a retriever returned: a list, or a list under a key such as `documents`. */
function documentsOf(value: unknown): FoundDocument[] {
  const lists = Array.isArray(value) ? [value] : firstEntries(value, MOST_KEYS).entries.map(([, one]) => one)
  const found = lists.find((list) => Array.isArray(list) && list.length > 0 && list.every(isDocument))
  return (found ?? []) as FoundDocument[]
}

function Documents({ documents }: { documents: readonly FoundDocument[] }) {
  return documents.map(({ page_content, metadata, score }, place) => (
    <article key={place} className={chat['message']}>
      <div className={chat['role']}>
        Document {place + 1}
        {score !== undefined && score !== null && <Chip>score {String(score)}</Chip>}
      </div>
      <PlainText text={page_content} />
      {metadata !== undefined && <JsonView value={metadata} path="metadata" openDepth={0} />}
    </article>
  ))
}

/** Inputs or outputs without messages. A single text is shown as text. */
export function PayloadSection({ title, value, path }: { title: string; value: unknown; path: string }) {
  const documents = documentsOf(value)
  const isEmpty = typeof value === 'object' && firstEntries(value, 0).count === 0
  if (value === null || value === undefined || isEmpty) return null
  return (
    <RunSection title={title} note={documents.length > 0 ? `${documents.length} documents` : undefined}>
      {documents.length > 0 ? (
        <Documents documents={documents} />
      ) : (
        <JsonView value={value} path={path} openDepth={3} />
      )}
    </RunSection>
  )
}
