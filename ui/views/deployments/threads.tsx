import { useDeferredValue } from 'react'
import { type DeploymentThread, useDeploymentList, useThreadsWith } from '../../data/deployments/contents.ts'
import { threadWord } from '../../data/deployments/thread-run.ts'
import { firstWords, lastWords, READ_WORDS } from '../../data/deployments/thread-words.ts'
import { Chip, Field, Select } from '../../parts/controls.tsx'
import { previewText } from '../../parts/format/preview-text.ts'
import { Time } from '../../parts/time.tsx'
import { setParam, useParam } from '../../router/location.ts'
import { textParam, wordParam } from '../../router/params.ts'
import { PagedTable } from './contents.tsx'
import css from './deployments.module.css'
import { StudioLink } from './studio-link.tsx'

const STATUSES = ['any', 'interrupted', 'busy', 'error', 'idle'] as const
type Status = (typeof STATUSES)[number]
/** The id of no thread: an empty list of ids would be no condition. */
const NO_THREAD = '00000000-0000-0000-0000-000000000000'
const TEXT = textParam('q')
const STATE = wordParam<Status>('state', [...STATUSES])

/** Metadata that the server writes; the graph has a column. */
const OF_SERVER = new Set(['graph_id', 'assistant_id', 'run_id'])
const MOST_CHIPS = 4

function lookOf(status: string): string | undefined {
  if (status === 'interrupted') return css['waits']
  return status === 'error' ? css['bad'] : undefined
}

function Row({ name, thread }: { name: string; thread: DeploymentThread }) {
  const { thread_id, status, metadata, created_at, updated_at } = thread
  const [first, last] = [previewText(firstWords(thread)), previewText(lastWords(thread))]
  const labels = Object.entries(metadata).filter(
    ([key, value]) => !OF_SERVER.has(key) && typeof value !== 'object',
  )
  return (
    <tr>
      <td className={`name ${css['words']}`} dir="auto" title={first}>
        <StudioLink name={name} thread={thread_id}>
          {first === '' ? <code>{thread_id}</code> : first}
        </StudioLink>
      </td>
      <td className={lookOf(status)}>{threadWord(status)}</td>
      <td className={css['words']} dir="auto" title={last}>
        {last}
      </td>
      <td>{String(metadata['graph_id'] ?? '–')}</td>
      <td>
        {labels.slice(0, MOST_CHIPS).map(([key, value]) => (
          <Chip key={key}>
            {key} {String(value)}
          </Chip>
        ))}
      </td>
      <td>
        <Time time={created_at} />
      </td>
      <td>
        <Time time={updated_at} />
      </td>
      <td>{first !== '' && <code>{thread_id}</code>}</td>
    </tr>
  )
}

/** The threads of a deployment, the latest activity first. */
export function Threads({ name }: { name: string }) {
  const [state, text] = [useParam(STATE), useParam(TEXT)]
  const found = useThreadsWith(name, useDeferredValue(text.trim()))
  const threads = useDeploymentList<DeploymentThread>(name, '/threads/search', {
    ...READ_WORDS,
    ...(state !== 'any' && { status: state }),
    ...(text.trim() !== '' &&
      found.data !== undefined && { ids: found.data.length > 0 ? found.data : [NO_THREAD] }),
  })
  return (
    <section className={css['section']}>
      <div className={css['choices']}>
        <Field
          type="search"
          aria-label="Threads that contain"
          placeholder="Words in its traces"
          defaultValue={text}
          onChange={({ target }) => setParam(TEXT, target.value)}
        />
        <Select<Status>
          label="State"
          value={state}
          options={STATUSES.map((word) => [word, word === 'any' ? 'Any state' : threadWord(word)] as const)}
          onChange={(word) => setParam(STATE, word)}
        />
      </div>
      <PagedTable
        label="Threads"
        from={threads}
        columns={['First words', 'State', 'Last words', 'Graph', 'Metadata', 'Created', 'Updated', 'Thread']}
      >
        {(thread) => <Row key={thread.thread_id} name={name} thread={thread} />}
      </PagedTable>
    </section>
  )
}
