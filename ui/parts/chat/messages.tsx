import { useMemo, useState } from 'react'
import { parseExact } from '../../api/exact-json.ts'
import { Button } from '../controls.tsx'
import { countText } from '../format/numbers.ts'
import { Icon } from '../icon.tsx'
import { entriesOf } from '../json/json-text.ts'
import { JsonView } from '../json/json-view.tsx'
import { Markdown, PlainText } from '../markdown/markdown.tsx'
import { mediaLink } from '../../api/media.ts'
import type { Block, Message } from '../../api/messages.ts'
import { LinkedMedia } from './linked-media.tsx'
import { Media } from './media.tsx'
import { toolResults, type ToolResults } from './tool-results.ts'
import css from './chat.module.css'

/** Longer texts are cut until the user opens them. */
const MAX_TEXT = 6000
/** Characters that each click adds: drawing megabytes at once would block the page. */
const MORE_TEXT = 100_000
/** Levels of a block of an unknown type that are open at first. */
const UNKNOWN_DEPTH = 6
/** Number of last messages that are open; earlier ones are folded. */
const SHOWN_MESSAGES = 8

/** Options of drawing messages: the form of texts, and the answers of tool calls. */
interface Drawing {
  isMarkdown: boolean
  results: ToolResults
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A text, as Markdown or as it was sent; a long one is cut until the user opens it. */
export function Text({ text, isMarkdown }: { text: string; isMarkdown: boolean }) {
  const [length, setLength] = useState(MAX_TEXT)
  const shown = text.slice(0, length)
  const rest = Math.max(0, text.length - length)
  return (
    <>
      {isMarkdown ? <Markdown text={shown} /> : <PlainText text={shown} />}
      {rest > 0 && (
        <Button onClick={() => setLength(length + MORE_TEXT)}>
          Show {countText(Math.min(rest, MORE_TEXT))} more characters
          {rest > MORE_TEXT && ` of ${countText(rest)}`}
        </Button>
      )}
    </>
  )
}

/** Shows a text. A block that the server could not read has an empty text, and is shown as it was sent. */
function TextBlock({ block, isMarkdown }: { block: Block; isMarkdown: boolean }) {
  const text = textOf(block['text'])
  const unread = entriesOf(block['extras']).find(([name]) => name === 'unread')?.[1]
  return (
    <>
      {text !== '' && <Text text={text} isMarkdown={isMarkdown} />}
      {unread !== undefined && <JsonView value={unread} openDepth={text === '' ? UNKNOWN_DEPTH : 0} />}
    </>
  )
}

function Reasoning({ text }: { text: string }) {
  return (
    <details className={css['fold']}>
      <summary>Reasoning, {text.length} characters</summary>
      <PlainText text={text} />
    </details>
  )
}

function ToolCall({ block, drawing }: { block: Block; drawing: Drawing }) {
  const id = textOf(block['id'])
  const result = drawing.results.of.get(block)
  const isServer = block.type === 'server_tool_call'
  return (
    <div className={css['call']}>
      <div className={css['callName']}>
        <Icon name="tool" color="var(--tool)" />
        {textOf(block['name']) || 'tool'}
        <span className={css['note']}>
          {isServer && 'run by the vendor '}
          <code>{id}</code>
        </span>
      </div>
      <JsonView value={block['args']} path="args" />
      {result !== undefined && (
        <div className={css['result']}>
          <Answer blocks={result.content} drawing={drawing} />
        </div>
      )}
    </div>
  )
}

function ServerResult({ block }: { block: Block }) {
  return (
    <div className={css['call']}>
      <div className={css['callName']}>
        <Icon name={block['status'] === 'error' ? 'error' : 'success'} />
        Result of the vendor's tool <code>{textOf(block['tool_call_id'])}</code>
      </div>
      <JsonView value={block['output']} path="output" />
    </div>
  )
}

/** A file in a message: linked, in the block itself, or at another site. */
function MediaBlock({ block }: { block: Block }) {
  const link = mediaLink(block['base64']) ?? mediaLink(block['url'])
  if (link === undefined) return <Media block={block} />
  return <LinkedMedia link={link} type={textOf(block['mime_type']) || link.mime} kind={block.type} />
}

/** One content block of a message. A block of an unknown type is shown as JSON. */
function BlockView({ block, drawing }: { block: Block; drawing: Drawing }) {
  switch (block.type) {
    case 'text':
      if (mediaLink(block['text']) !== undefined) return <JsonView value={block['text']} openDepth={1} />
      return <TextBlock block={block} isMarkdown={drawing.isMarkdown} />
    case 'reasoning':
      return <Reasoning text={textOf(block['text'])} />
    case 'image':
    case 'file':
    case 'audio':
    case 'video':
      return <MediaBlock block={block} />
    case 'tool_call':
    case 'server_tool_call':
      return <ToolCall block={block} drawing={drawing} />
    case 'server_tool_result':
      return <ServerResult block={block} />
    default:
      return <JsonView value={block} openDepth={UNKNOWN_DEPTH} />
  }
}

function Blocks({ blocks, drawing }: { blocks: readonly Block[]; drawing: Drawing }) {
  return blocks.map((block, place) => <BlockView key={place} block={block} drawing={drawing} />)
}

/** Longer results of tools are shown as text: parsing them would block the page. */
const MAX_PARSED = 500_000

/** The parsed JSON of a text; undefined unless it is an object or a list. */
function jsonOf(block: Block): unknown {
  const text = block.type === 'text' ? textOf(block['text']) : ''
  if (!/^\s*[[{]/.test(text) || text.length > MAX_PARSED) return undefined
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

function AnswerBlock({ block, drawing }: { block: Block; drawing: Drawing }) {
  const { isMarkdown } = drawing
  const value = useMemo(() => (isMarkdown ? jsonOf(block) : undefined), [isMarkdown, block])
  return value === undefined ? (
    <BlockView block={block} drawing={drawing} />
  ) : (
    <JsonView value={value} path="result" />
  )
}

/** Shows the answer of a tool; JSON as a tree, unless texts are shown as they were sent. */
function Answer({ blocks, drawing }: { blocks: readonly Block[]; drawing: Drawing }) {
  return blocks.map((block, place) => <AnswerBlock key={place} block={block} drawing={drawing} />)
}

function MessageView({ message, drawing }: { message: Message; drawing: Drawing }) {
  return (
    <article className={css['message']} data-role={message.role}>
      <div className={css['role']}>
        {message.role}
        {message.name !== undefined && <span>{message.name}</span>}
        {message.tool_call_id !== undefined && <code>{message.tool_call_id}</code>}
      </div>
      {message.role === 'tool' ? (
        <Answer blocks={message.content} drawing={drawing} />
      ) : (
        <Blocks blocks={message.content} drawing={drawing} />
      )}
      {message.content.length === 0 && <span className={css['note']}>says nothing</span>}
    </article>
  )
}

/**
 * Shows messages. The last ones are open; earlier ones are folded, and so are the first `repeated`, which the previous
 * call already had. `results` are the answers to their tool calls; default: the answers among the messages.
 */
export function Messages({
  messages,
  isMarkdown,
  repeated = 0,
  repeatedIn = 'the call before',
  results = toolResults(messages),
}: Omit<Drawing, 'results'> & {
  messages: readonly Message[]
  repeated?: number
  /** Where the repeated messages are too. */
  repeatedIn?: string
  results?: Drawing['results']
}) {
  const [isAll, setAll] = useState(false)
  const isOwn = (message: Message): boolean => !results.joined.has(message)
  const own = messages.filter(isOwn)
  const known = Math.min(messages.slice(0, repeated).filter(isOwn).length, own.length - 1)
  const hidden = isAll ? 0 : Math.max(0, known, own.length - SHOWN_MESSAGES)
  const drawing = { isMarkdown, results }
  return (
    <>
      {hidden > 0 && (
        <div className={css['earlier']}>
          <Button onClick={() => setAll(true)}>
            Show {hidden} earlier {hidden === 1 ? 'message' : 'messages'}
          </Button>
          {known > 0 && (
            <span className={css['note']}>
              {known === hidden ? 'as' : `${known} of them as`} in {repeatedIn}
            </span>
          )}
        </div>
      )}
      {own.slice(hidden).map((message, place) => (
        <MessageView key={place + hidden} message={message} drawing={drawing} />
      ))}
    </>
  )
}
