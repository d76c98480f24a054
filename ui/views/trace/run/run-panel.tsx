import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { type ReadRun, runOptions } from '../../../data/runs.ts'
import { Button, CopyButton } from '../../../parts/controls.tsx'
import { durationText } from '../../../parts/format/numbers.ts'
import { microsBetween } from '../../../parts/format/times.ts'
import { StatusIcon, TypeIcon } from '../../../parts/icon.tsx'
import { usePreference, writePreference } from '../../../parts/preferences.ts'
import { Loaded, Skeleton } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { navigate } from '../../../router/location.ts'
import { repeatedMessages } from '../../../data/messages/conversation.ts'
import { CopyMenu } from './copy-menu.tsx'
import { type LlmFacts, llmOf } from '../../../data/llm-facts.ts'
import { Messages } from '../../../parts/chat/messages.tsx'
import { useMarkdownSoon } from '../../../parts/markdown/markdown.tsx'
import { PayloadSection } from './payload-section.tsx'
import css from './run.module.css'
import { RunSection } from './section.tsx'

const AttachmentSection = lazy(() =>
  import('./attachment-section.tsx').then((file) => ({ default: file.AttachmentSection })),
)
const CommentSection = lazy(() =>
  import('../comments/comment-section.tsx').then((file) => ({ default: file.CommentSection })),
)
const CostSection = lazy(() => import('./cost-section.tsx').then((file) => ({ default: file.CostSection })))
const FeedbackSection = lazy(() =>
  import('./feedback-section.tsx').then((file) => ({ default: file.FeedbackSection })),
)
const MoreSections = lazy(() =>
  import('./more-sections.tsx').then((file) => ({ default: file.MoreSections })),
)
const RequestSection = lazy(() =>
  import('./request-section.tsx').then((file) => ({ default: file.RequestSection })),
)
const UsageFacts = lazy(() => import('./usage-facts.tsx').then((file) => ({ default: file.UsageFacts })))
const VerdictSection = lazy(() =>
  import('./verdict-section.tsx').then((file) => ({ default: file.VerdictSection })),
)

/** Whether texts are drawn as Markdown; stored in the browser. */
interface TextLook {
  isMarkdown: boolean
  change(): void
}

function useTextLook(): TextLook {
  const isMarkdown = usePreference('text') === 'markdown'
  return { isMarkdown, change: () => writePreference('text', isMarkdown ? 'plain' : 'markdown') }
}

function Head({ run, look, isShared }: { run: ReadRun; look: TextLook; isShared: boolean }) {
  const llm = llmOf(run)
  const firstToken = microsBetween(run.start_time, run.first_token_time)
  const speed = llm?.tokens_per_second
  return (
    <header className={css['head']}>
      <div className={css['title']}>
        <StatusIcon status={run.status} />
        <TypeIcon type={run.run_type} />
        <h2>{run.name}</h2>
      </div>
      <div className={css['facts']}>
        <span>{run.run_type}</span>
        <span>{durationText(microsBetween(run.start_time, run.end_time))}</span>
        {firstToken !== undefined && <span>first token {durationText(firstToken)}</span>}
        {typeof speed === 'number' && <span>{Math.round(speed)} tokens/s</span>}
        {typeof llm?.model === 'string' && (
          <span>
            {llm.model}
            {typeof llm.provider === 'string' && ` · ${llm.provider}`}
          </span>
        )}
        <Time time={run.start_time} />
      </div>
      <div className={css['actions']}>
        <CopyButton text={run.id} label="Copy the id" />
        {!isShared && run.run_type === 'llm' && (
          <Button look="plain" icon="llm" onClick={() => navigate(`/playground?from=${run.id}`)}>
            Open in playground
          </Button>
        )}
        {!isShared && (
          <Button look="plain" icon="columns" onClick={() => navigate(`/compare?a=${run.id}`)}>
            Compare
          </Button>
        )}
        <CopyMenu run={run} isShared={isShared} />
        <Button look="plain" aria-pressed={!look.isMarkdown} onClick={look.change}>
          Plain text
        </Button>
      </div>
    </header>
  )
}

interface ConversationProps {
  llm: LlmFacts
  isMarkdown: boolean
  /** The model call before this one in the trace; undefined while it is read. */
  before: ReadRun | 'none' | undefined
}

function Conversation({ llm, isMarkdown, before }: ConversationProps) {
  const { input, output } = llm.messages ?? {}
  const earlier = before === undefined || before === 'none' ? undefined : llmOf(before)?.messages
  const repeated =
    earlier && input
      ? repeatedMessages({ input: earlier.input ?? [], output: earlier.output ?? [] }, input)
      : 0
  return (
    <>
      {input !== null && input !== undefined && input.length > 0 && (
        <RunSection title="Input" note={llm.input_format}>
          {before === undefined ? (
            <Skeleton />
          ) : (
            <Messages messages={input} isMarkdown={isMarkdown} repeated={repeated} />
          )}
        </RunSection>
      )}
      {output !== null && output !== undefined && output.length > 0 && (
        <RunSection title="Output" note={llm.output_format}>
          <Messages messages={output} isMarkdown={isMarkdown} />
        </RunSection>
      )}
    </>
  )
}

/** Inputs and outputs: the messages of a model call if it has any, else what was sent. */
function Payloads({ run, ...rest }: Omit<ConversationProps, 'llm'> & { run: ReadRun }) {
  const llm = llmOf(run)
  const { isMarkdown } = rest
  const hasInput = (llm?.messages?.input?.length ?? 0) > 0
  const hasOutput = (llm?.messages?.output?.length ?? 0) > 0
  return (
    <>
      {!hasInput && <PayloadSection title="Input" value={run.inputs} path="inputs" isMarkdown={isMarkdown} />}
      {llm !== undefined && <Conversation llm={llm} {...rest} />}
      {!hasOutput && (
        <PayloadSection
          title="Output"
          value={run.outputs}
          path="outputs"
          isMarkdown={isMarkdown}
          inputs={run.inputs}
        />
      )}
    </>
  )
}

/** The places at which a run contains the searched text. */
export interface FoundIn {
  text: string
  paths: readonly string[]
}

function FoundLine({ found: { text, paths } }: { found: FoundIn }) {
  if (paths.length === 0) return null
  return (
    <p className={css['found']} role="status">
      “{text}” is in{' '}
      {paths.map((path, place) => (
        <span key={path}>
          {place > 0 && ', '}
          <code>{path}</code>
        </span>
      ))}
    </p>
  )
}

/** One run in full. Messages that the model call `previous` had already are folded; '' for none. */
export function RunPanel({
  id,
  previous = '',
  foundIn,
  unpriced = 0,
  share,
}: {
  id: string
  previous?: string
  foundIn?: FoundIn
  /** Calls without a price, of the run and of those below it. */
  unpriced?: number
  share?: string | undefined
}) {
  const found = useQuery(runOptions(id, share))
  const { data, error } = useQuery(runOptions(previous, share))
  const before = previous === '' || error !== null ? 'none' : data
  const look = useTextLook()
  useMarkdownSoon()
  return (
    <Loaded from={found}>
      {(run) => (
        <div className={css['panel']}>
          <Head run={run} look={look} isShared={share !== undefined} />
          {foundIn !== undefined && <FoundLine found={foundIn} />}
          {run.error !== null && run.error !== undefined && (
            <RunSection title="Error">
              <pre className={css['error']}>{run.error}</pre>
            </RunSection>
          )}
          <Payloads run={run} isMarkdown={look.isMarkdown} before={before} />
          {llmOf(run) !== undefined && (
            <Suspense>
              <RequestSection run={run} />
            </Suspense>
          )}
          <Suspense>
            <CostSection run={run} unpriced={unpriced} isShared={share !== undefined} />
            <VerdictSection run={run} isShared={share !== undefined} />
          </Suspense>
          {share === undefined && (
            <RunSection title="Usage" isOpen={false}>
              <Suspense fallback={<Skeleton />}>
                <UsageFacts run={run} />
              </Suspense>
            </RunSection>
          )}
          {share === undefined && (
            <Suspense>
              <CommentSection run={run} />
              <FeedbackSection run={run} />
            </Suspense>
          )}
          {Object.keys(run.attachments ?? {}).length > 0 && (
            <Suspense fallback={<Skeleton />}>
              <AttachmentSection run={run} isPublic={share !== undefined} />
            </Suspense>
          )}
          <Suspense>
            <MoreSections run={run} />
          </Suspense>
        </div>
      )}
    </Loaded>
  )
}
