import { lazy, Suspense } from 'react'
import type { ReadRun } from '../../../data/runs.ts'
import { Chip, CopyButton } from '../../../parts/controls.tsx'
import { entriesOf, exactText } from '../../../parts/json/json-text.ts'
import { JsonView } from '../../../parts/json/json-view.tsx'
import css from './run.module.css'
import { RunSection } from './section.tsx'

const TokenTimeline = lazy(() =>
  import('./tokens/timeline.tsx').then((file) => ({ default: file.TokenTimeline })),
)

/** Tags and the metadata that the client sent. */
function MetadataSection({ run }: { run: ReadRun }) {
  const { metadata, ...rest } = run.extra ?? {}
  const entries = entriesOf(metadata)
  const tags = run.tags ?? []
  if (entries.length === 0 && tags.length === 0 && Object.keys(rest).length === 0) return null
  return (
    <RunSection title="Metadata" note={entries.length} isOpen={false}>
      {tags.length > 0 && (
        <div className={css['facts']}>
          {tags.map((tag) => (
            <Chip key={tag}>{tag}</Chip>
          ))}
        </div>
      )}
      <dl className={css['pairs']}>
        {entries.map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>
              {typeof value === 'object' && value !== null ? (
                <JsonView value={value} openDepth={1} />
              ) : (
                String(value)
              )}
            </dd>
          </div>
        ))}
      </dl>
      {Object.keys(rest).length > 0 && <JsonView value={rest} path="extra" openDepth={1} />}
    </RunSection>
  )
}

/** The events of a run, and the times at which its tokens arrived. */
function EventSection({ run }: { run: ReadRun }) {
  const events = run.events ?? []
  if (events.length === 0) return null
  return (
    <RunSection title="Events" note={events.length} isOpen={false}>
      <Suspense>
        <TokenTimeline run={run} />
      </Suspense>
      <JsonView value={events} path="events" openDepth={2} />
    </RunSection>
  )
}

/** The run as the API gives it, with paths on hover; numbers are copied as they were sent. */
function RawSection({ run }: { run: ReadRun }) {
  return (
    <RunSection title="JSON" isOpen={false}>
      <div>
        <CopyButton text={() => exactText(run)} label="Copy the JSON" />
      </div>
      <JsonView value={run} openDepth={1} />
    </RunSection>
  )
}

/** The sections of a run that most readers do not open. */
export function MoreSections({ run }: { run: ReadRun }) {
  return (
    <>
      <EventSection run={run} />
      <MetadataSection run={run} />
      <RawSection run={run} />
    </>
  )
}
