import { useQuery } from '@tanstack/react-query'
import { readAttachment, type ReadRun } from '../../../data/runs.ts'
import { BlobView, isShown } from '../../../parts/chat/media.tsx'
import { bytesText } from '../../../parts/format/numbers.ts'
import css from './run.module.css'
import { RunSection } from './section.tsx'

/** Larger attachments are not loaded until they are opened. */
const MOST_SHOWN_BYTES = 8 << 20

type Attached = NonNullable<NonNullable<ReadRun['attachments']>[string]>

function Preview({ path, type, name }: { path: string; type: string; name: string }) {
  const { data, error } = useQuery({
    queryKey: ['attachment', path],
    queryFn: ({ signal }) => readAttachment(path, type, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error !== null) return <span className={css['note']}>{error.message}</span>
  return data === undefined ? null : <BlobView blob={data} kind={name} />
}

function Attachment({ name, file, isPublic }: { name: string; file: Attached; isPublic: boolean }) {
  const path = new URL(file.url, location.origin).pathname
  return (
    <li>
      <div>
        {isPublic ? (
          name
        ) : (
          <a href={path} target="_blank" rel="noopener noreferrer">
            {name}
          </a>
        )}{' '}
        <span className={css['note']}>
          {file.mime_type}, {bytesText(file.size)}
        </span>
      </div>
      {!isPublic && isShown(file.mime_type) && file.size <= MOST_SHOWN_BYTES && (
        <Preview path={path} type={file.mime_type} name={name} />
      )}
    </li>
  )
}

/**
 * Files that were sent with the run. Except for readers of a share, pictures, sounds and films are shown, and each file
 * can be opened alone, in a sandbox.
 */
export function AttachmentSection({ run, isPublic = false }: { run: ReadRun; isPublic?: boolean }) {
  const attachments = Object.entries(run.attachments ?? {})
  return (
    <RunSection title="Attachments" note={attachments.length}>
      <ul className={css['thumbs']}>
        {attachments.map(
          ([name, file]) =>
            file !== undefined && <Attachment key={name} name={name} file={file} isPublic={isPublic} />,
        )}
      </ul>
    </RunSection>
  )
}
