import { useQuery } from '@tanstack/react-query'
import type { CallResult } from '../../data/playground/answer.ts'
import { DRAFT } from '../../data/playground/calls.ts'
import { answerMessages } from '../../data/playground/answer-messages.ts'
import { figuresOfCall, figuresOfRun } from '../../data/playground/figures.ts'
import type { DraftMessage } from '../../data/playground/draft.ts'
import { tracedOptions } from '../../data/playground/queries.ts'
import type { ReadRun } from '../../data/runs.ts'
import { Button, CopyButton } from '../../parts/controls.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { LongPlainText, Markdown } from '../../parts/markdown/markdown.tsx'
import { ErrorFacts } from '../../parts/states.tsx'
import { usePreference } from '../../parts/preferences.ts'
import { Link } from '../../router/link.tsx'
import { FiguresTable } from './figures.tsx'
import css from './playground.module.css'

const STATES: Readonly<Record<CallResult['state'], readonly [IconName, string, string]>> = {
  running: ['pending', 'var(--running)', 'answering'],
  done: ['success', 'var(--ok)', 'answered'],
  failed: ['error', 'var(--error)', 'failed'],
  stopped: ['close', 'var(--muted)', 'stopped'],
}

/** Texts for answers that ended before the model had finished, by `finish_reason`. */
const ENDS: Readonly<Record<string, string>> = {
  length: 'The answer was cut off at the limit of tokens.',
  max_tokens: 'The answer was cut off at the limit of tokens.',
  MAX_TOKENS: 'The answer was cut off at the limit of tokens.',
  content_filter: 'The provider held back a part of the answer.',
  SAFETY: 'The provider held back a part of the answer.',
  refusal: 'The model refused to answer.',
}

function Answer({ result }: { result: CallResult }) {
  const isMarkdown = usePreference('text') === 'markdown'
  const { text, reasoning, calls, state } = result
  // A growing text is not parsed: parsing all of it for every piece would slow the page down.
  const isPlain = state === 'running' || !isMarkdown
  return (
    <div className={css['answer']} data-scrolls="true">
      {reasoning !== '' && (
        <details>
          <summary>Reasoning, {reasoning.length} characters</summary>
          <LongPlainText text={reasoning} />
        </details>
      )}
      {text !== '' && (isPlain ? <LongPlainText text={text} /> : <Markdown text={text} />)}
      {calls.map(({ index, name, id, args }) => (
        <div key={index} className={css['call']}>
          <div className={css['pair']}>
            <Icon name="tool" color="var(--tool)" />
            <b>{name}</b>
            <code>{id}</code>
          </div>
          <pre className={css['args']}>{args}</pre>
        </div>
      ))}
    </div>
  )
}

function State({ result, name }: { result: CallResult; name: string }) {
  const [icon, color, word] = STATES[result.state]
  const isWaiting =
    result.state === 'running' && result.text + result.reasoning === '' && result.calls.length === 0
  return (
    <div className={css['state']} role="status" aria-label={`State of ${name}`} data-state={result.state}>
      <Icon name={icon} color={color} />
      {isWaiting ? 'waiting for the first token' : word}
      {result.model !== undefined && <span className={css['note']}>{result.model}</span>}
    </div>
  )
}

/** Shows why a call failed, or why its answer ended before the model had finished. */
function Trouble({ result: { state, problem, finish_reason, run_id } }: { result: CallResult }) {
  if (problem !== undefined)
    return (
      <div className={css['bad']} role="alert">
        {problem.detail}{' '}
        {problem.code === 'host_not_allowed' && <Link to="/settings?view=secrets">Secrets</Link>}
        {problem.code !== DRAFT && <ErrorFacts of={problem} />}
      </div>
    )
  if (state === 'stopped')
    return (
      <p className={css['note']}>
        The call was stopped{run_id !== '' && '; its trace has what had arrived'}.
      </p>
    )
  const end = ENDS[finish_reason ?? '']
  return end === undefined ? null : <p className={css['warn']}>{end}</p>
}

/** The result of a call: the answer as it arrives, its figures, and its trace. */
export function Result({
  result,
  source,
  name,
  add,
}: {
  result: CallResult
  source: ReadRun | undefined
  name: string
  /** Adds messages to the prompt that was sent. */
  add(messages: readonly DraftMessage[]): void
}) {
  const hasEnded = result.state !== 'running'
  const traced = useQuery(tracedOptions(result.run_id, hasEnded))
  const hasAnswer = result.text !== '' || result.calls.length > 0
  return (
    <div className={css['result']}>
      <State result={result} name={name} />
      <Trouble result={result} />
      <Answer result={result} />
      {result.run_id !== '' && hasEnded && (
        <FiguresTable
          name={name}
          figures={figuresOfCall(result, traced.data)}
          source={source === undefined ? undefined : figuresOfRun(source)}
          isCostKnownLater={
            traced.error === null && (traced.data === undefined || traced.data.status === 'pending')
          }
        />
      )}
      <div className={css['adds']}>
        {hasEnded && hasAnswer && (
          <>
            <Button look="plain" icon="plus" onClick={() => add(answerMessages(result))}>
              Add to the prompt
            </Button>
            <CopyButton text={result.text} label="Copy the text" />
          </>
        )}
        {result.run_id !== '' && hasEnded && <Link to={`/runs/${result.run_id}`}>Open the trace</Link>}
      </div>
    </div>
  )
}
