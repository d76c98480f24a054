import { memo, useMemo, useState } from 'react'
import { messageContent, reasoningText } from '../../data/studio/message-content.ts'
import { Media } from '../../parts/chat/media.tsx'
import { Button } from '../../parts/controls.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { LongPlainText, Markdown, PlainText } from '../../parts/markdown/markdown.tsx'
import { PanelBoundary } from '../../parts/states.tsx'
import type { RunError } from '../../data/studio/run-error.ts'
import { messageOf, uiMessagesOf } from '../../data/studio/components/ui-messages.ts'
import { UiComponents, type UiPlace } from './components/ui-components.tsx'
import { MediaPicker, useChosenMedia } from './input/media-picker.tsx'
import { RunFailure } from './run-failure.tsx'
import type { StudioSession, StudioStream } from './session.ts'
import css from './studio.module.css'

type Message = StudioStream['messages'][number]
type Submit = StudioSession['submit']

/** Ways to start a run from the chat. */
interface Sending {
  submit: Submit
  /** Why the session may not start runs; undefined if it may. */
  refusal: string | undefined
}

const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' }

/** Blocks of a model that are not part of the answer: `reasoning` of OpenAI and Google, `thinking` of Anthropic. */
function Reasoning({ text }: { text: string }) {
  return (
    <details className={css['reasoning']}>
      <summary>Reasoning</summary>
      <PlainText text={text} />
    </details>
  )
}

function Block({ block, isGrowing }: { block: Record<string, unknown>; isGrowing: boolean }) {
  const { text, image_url } = block
  const reasoning = reasoningText(block)
  if (reasoning !== undefined) return <Reasoning text={reasoning} />
  if (typeof text === 'string') return <Said text={text} isGrowing={isGrowing} />
  const url = (image_url as { url?: unknown } | undefined)?.url
  if (typeof url === 'string') return <Media block={{ type: 'image', url }} />
  return <JsonView value={block} />
}

/** A growing text is not parsed: parsing all of it for every piece would slow the page down. */
function Said({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  return isGrowing ? <LongPlainText text={text} /> : <Markdown text={text} />
}

function Content({ content, isGrowing }: { content: unknown; isGrowing: boolean }) {
  if (typeof content === 'string') return <Said text={content} isGrowing={isGrowing} />
  if (!Array.isArray(content)) return <JsonView value={content} />
  return (content as Record<string, unknown>[]).map((block, place) => (
    <Block key={place} block={block} isGrowing={isGrowing} />
  ))
}

function Editor({ text, send }: { text: string; send(content: string): void }) {
  return (
    <form
      className={css['form']}
      onSubmit={(event) => {
        event.preventDefault()
        send(String(new FormData(event.currentTarget).get('edited')))
      }}
    >
      <textarea name="edited" aria-label="Edited message" rows={3} defaultValue={text} />
      <div>
        <Button type="submit" look="primary">
          Send as a new branch
        </Button>
      </div>
    </form>
  )
}

interface ChatMessageProps extends Sending {
  message: Message
  /** Id of the checkpoint before the message, from which another branch can begin; undefined while a run is active. */
  from: string | undefined
  isGrowing: boolean
  /** The branches that begin with the message, and which of them is shown; '' without another one. */
  branch: string
  branches: string
  showBranch(branch: string): void
}

/** Buttons that show the other branches: edited messages, and answers that were made again. */
function Branches({
  branch,
  branches,
  showBranch,
}: Pick<ChatMessageProps, 'branch' | 'branches' | 'showBranch'>) {
  const all = branches.split(' ')
  const at = all.indexOf(branch)
  if (all.length < 2 || at < 0) return null
  const to = (place: number, label: string) => (
    <Button
      look="plain"
      disabled={all[place] === undefined}
      aria-label={label}
      onClick={() => showBranch(all[place] ?? '')}
    >
      {place < at ? '‹' : '›'}
    </Button>
  )
  return (
    <span className={css['branches']}>
      {to(at - 1, 'Branch before')}
      <span className={css['note']}>
        {at + 1} of {all.length}
      </span>
      {to(at + 1, 'Next branch')}
    </span>
  )
}

const ChatMessage = memo(function ChatMessage({
  message,
  from,
  isGrowing,
  submit,
  refusal,
  ...branching
}: ChatMessageProps) {
  const [isEditing, setEditing] = useState(false)
  const calls = 'tool_calls' in message ? (message.tool_calls ?? []) : []
  const refused = { disabled: refusal !== undefined, title: refusal }
  const checkpoint = from === undefined ? undefined : { checkpoint_id: from, checkpoint_ns: '' }
  return (
    <article className={css['message']} data-role={message.type}>
      <div className={css['row']}>
        <b>{ROLES[message.type] ?? message.type}</b>
        {checkpoint !== undefined && message.type === 'human' && (
          <Button look="plain" icon="edit" {...refused} onClick={() => setEditing(!isEditing)}>
            Edit
          </Button>
        )}
        {checkpoint !== undefined && message.type === 'ai' && (
          <Button look="plain" icon="refresh" {...refused} onClick={() => submit(undefined, { checkpoint })}>
            Regenerate
          </Button>
        )}
        {from !== undefined && <Branches {...branching} />}
      </div>
      {isEditing ? (
        <Editor
          text={typeof message.content === 'string' ? message.content : ''}
          send={(content) => {
            submit({ messages: [{ type: 'human', content }] }, { checkpoint })
            setEditing(false)
          }}
        />
      ) : (
        <Content content={message.content} isGrowing={isGrowing} />
      )}
      {calls.map((call, index) => (
        <div key={call.id ?? index} className={css['call']}>
          <b>{call.name}</b>
          <JsonView value={call.args} />
        </div>
      ))}
    </article>
  )
})

const SendForm = memo(function SendForm({ submit, refusal }: Sending) {
  const media = useChosenMedia()
  return (
    <form
      className={css['form']}
      aria-label="Send a message"
      onSubmit={(event) => {
        event.preventDefault()
        const text = String(new FormData(event.currentTarget).get('message'))
        if (text === '' && media.files.length === 0) return
        event.currentTarget.reset()
        const content = messageContent(text, media.files)
        submit({ messages: [{ type: 'human', content }] }, { multitaskStrategy: 'enqueue' })
        media.clear()
      }}
    >
      <textarea name="message" aria-label="Message" rows={3} />
      <div className={css['actions']}>
        <Button type="submit" look="primary" disabled={refusal !== undefined} title={refusal}>
          Send
        </Button>
        <MediaPicker label="Files for the message" media={media} />
      </div>
    </form>
  )
})

/** While a run is active, branches can be neither created nor chosen. */
const NOT_NOW = { from: undefined, branch: '', branches: '' }

/**
 * The messages of the thread as a conversation. A user message can be edited, and an answer can be made again; each
 * makes a new branch.
 */
export function Chat({
  stream,
  error,
  ui,
  ...sending
}: Sending & { stream: StudioStream; error: RunError | undefined; ui: UiPlace }) {
  const { messages, isLoading, values } = stream
  const { shown, left_out } = useMemo(() => uiMessagesOf(values), [values])
  const ids = new Set(messages.map(({ id }) => id))
  const components = { ...ui, ...sending, isLoading }
  const { setBranch } = stream
  const known = (message: Message, place: number): Pick<ChatMessageProps, 'from' | 'branch' | 'branches'> => {
    if (isLoading) return NOT_NOW
    const {
      firstSeenState,
      branch = '',
      branchOptions = [],
    } = stream.getMessagesMetadata(message, place) ?? {}
    // For messages of the oldest read state, the state that added them is not known.
    const isKnown = firstSeenState !== stream.history[0] || firstSeenState?.parent_checkpoint === null
    const from = isKnown ? (firstSeenState?.parent_checkpoint?.checkpoint_id ?? undefined) : undefined
    return { from, branch, branches: branchOptions.join(' ') }
  }
  return (
    <section className={css['panel']} aria-label="Chat">
      <h2>Chat</h2>
      {messages.length === 0 && <p className={css['note']}>There is no message yet.</p>}
      <div aria-live="polite" className={css['messages']}>
        {messages.map((message, place) => (
          <PanelBoundary key={message.id ?? place}>
            <ChatMessage
              message={message}
              {...known(message, place)}
              showBranch={setBranch}
              isGrowing={isLoading && place === messages.length - 1}
              {...sending}
            />
            <UiComponents
              {...components}
              shown={shown.filter((one) => message.id !== undefined && messageOf(one) === message.id)}
            />
          </PanelBoundary>
        ))}
        <UiComponents {...components} shown={shown.filter((one) => !ids.has(messageOf(one) as string))} />
        {left_out > 0 && <p className={css['note']}>{left_out} earlier components are not shown.</p>}
      </div>
      <RunFailure error={error} />
      <SendForm {...sending} />
    </section>
  )
}
