import { memo, useCallback, useEffect, useRef, useState } from 'react'
import { messageContent } from '../../data/studio/message-content.ts'
import { Media } from '../../parts/chat/media.tsx'
import { Button } from '../../parts/controls.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Markdown, PlainText } from '../../parts/markdown/markdown.tsx'
import { Failure, PanelBoundary } from '../../parts/states.tsx'
import { MediaPicker, useChosenMedia } from './input/media-picker.tsx'
import type { StudioSession } from './session.ts'
import css from './studio.module.css'

type Message = StudioSession['stream']['messages'][number]
type Submit = StudioSession['submit']

const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant' }

function Block({ block, isGrowing }: { block: Record<string, unknown>; isGrowing: boolean }) {
  const { text, image_url } = block
  if (typeof text === 'string') return <Said text={text} isGrowing={isGrowing} />
  const url = (image_url as { url?: unknown } | undefined)?.url
  if (typeof url === 'string') return <Media block={{ type: 'image', url }} />
  return <JsonView value={block} />
}

/** While it grows, a text is not parsed: parsing all of it for every piece would slow the page down. */
function Said({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  return isGrowing ? <PlainText text={text} /> : <Markdown text={text} />
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

interface ChatMessageProps {
  message: Message
  /** Id of the checkpoint before the message, from which another branch can begin; undefined while a run is active. */
  from: string | undefined
  isGrowing: boolean
  submit: Submit
}

const ChatMessage = memo(function ChatMessage({ message, from, isGrowing, submit }: ChatMessageProps) {
  const [isEditing, setEditing] = useState(false)
  const calls = 'tool_calls' in message ? (message.tool_calls ?? []) : []
  const checkpoint = from === undefined ? undefined : { checkpoint_id: from, checkpoint_ns: '' }
  return (
    <article className={css['message']} data-role={message.type}>
      <div className={css['row']}>
        <b>{ROLES[message.type] ?? message.type}</b>
        {checkpoint !== undefined && message.type === 'human' && (
          <Button look="plain" icon="edit" onClick={() => setEditing(!isEditing)}>
            Edit
          </Button>
        )}
        {checkpoint !== undefined && message.type === 'ai' && (
          <Button look="plain" icon="refresh" onClick={() => submit(undefined, { checkpoint })}>
            Regenerate
          </Button>
        )}
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

/** The same function for as long as the page is open, so that messages are not drawn again for each event. */
function useSubmit({ submit }: StudioSession): Submit {
  const latest = useRef(submit)
  useEffect(() => {
    latest.current = submit
  })
  return useCallback((...sent) => latest.current(...sent), [])
}

function SendForm({ submit }: { submit: Submit }) {
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
        <Button type="submit" look="primary">
          Send
        </Button>
        <MediaPicker label="Files for the message" media={media} />
      </div>
    </form>
  )
}

/** The messages of the thread as a conversation; user messages are edited, and answers made again, in new branches. */
export function Chat({ session }: { session: StudioSession }) {
  const { messages, error, isLoading } = session.stream
  const submit = useSubmit(session)
  const before = (message: Message, place: number): string | undefined =>
    session.stream.getMessagesMetadata(message, place)?.firstSeenState?.parent_checkpoint?.checkpoint_id ??
    undefined
  return (
    <section className={css['panel']} aria-label="Chat">
      <h2>Chat</h2>
      {messages.length === 0 && <p className={css['note']}>There is no message yet.</p>}
      <div aria-live="polite" className={css['messages']}>
        {messages.map((message, place) => (
          <PanelBoundary key={message.id ?? place}>
            <ChatMessage
              message={message}
              from={isLoading ? undefined : before(message, place)}
              isGrowing={isLoading && place === messages.length - 1}
              submit={submit}
            />
          </PanelBoundary>
        ))}
      </div>
      {error !== undefined && error !== null && <Failure error={error} />}
      <SendForm submit={submit} />
    </section>
  )
}
