import { useState } from 'react'
import { type DeploymentThread, useDeploymentList } from '../../data/deployments/contents.ts'
import { threadWord } from '../../data/deployments/thread-run.ts'
import { firstWords, lastWords, READ_WORDS } from '../../data/deployments/thread-words.ts'
import { Button } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { previewText } from '../../parts/format/preview-text.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../router/link.tsx'
import css from './studio.module.css'

function Row({
  name,
  thread,
  isOpen,
  close,
}: {
  name: string
  thread: DeploymentThread
  isOpen: boolean
  close(): void
}) {
  const { thread_id, status, updated_at } = thread
  const mode = new URLSearchParams(location.search).get('mode')
  const path = `/deployments/${encodeURIComponent(name)}/studio/${thread_id}`
  return (
    <li onClick={close}>
      <Link to={mode === null ? path : `${path}?mode=${mode}`} aria-current={isOpen ? 'page' : undefined}>
        <b dir="auto">{previewText(firstWords(thread)) || thread_id}</b>
        <Time time={updated_at} />
        <p className={css['note']} dir="auto">
          {previewText(lastWords(thread))}
        </p>
        <span
          className={status === 'interrupted' ? css['warn'] : status === 'error' ? css['bad'] : css['note']}
        >
          {threadWord(status)}
        </span>
      </Link>
    </li>
  )
}

function Threads({ name, thread, close }: { name: string; thread: string | undefined; close(): void }) {
  const threads = useDeploymentList<DeploymentThread>(name, '/threads/search', READ_WORDS)
  return (
    <Loaded from={threads}>
      {({ pages }) => {
        const rows = pages.flatMap((page) => page.rows)
        if (rows.length === 0) return <Empty title="There is no thread yet" />
        return (
          <>
            <ul className={css['threads']} aria-label="Threads">
              {rows.map((one) => (
                <Row
                  key={one.thread_id}
                  name={name}
                  thread={one}
                  isOpen={one.thread_id === thread}
                  close={close}
                />
              ))}
            </ul>
            {threads.hasNextPage && (
              <Button disabled={threads.isFetchingNextPage} onClick={() => void threads.fetchNextPage()}>
                Show more
              </Button>
            )}
          </>
        )
      }}
    </Loaded>
  )
}

/** A button that lists the threads of the deployment, the latest activity first, and opens another one. */
export function ThreadMenu({ name, thread }: { name: string; thread: string | undefined }) {
  const [isOpen, setOpen] = useState(false)
  const close = (): void => setOpen(false)
  return (
    <>
      <Button icon="prompt" onClick={() => setOpen(true)}>
        Threads
      </Button>
      {isOpen && (
        <Dialog title="Threads" close={close}>
          <Threads name={name} thread={thread} close={close} />
        </Dialog>
      )}
    </>
  )
}
