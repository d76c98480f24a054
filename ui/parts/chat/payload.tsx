import { useMemo } from 'react'
import { mediaLink } from '../../api/media.ts'
import { Chip } from '../controls.tsx'
import type { Message } from '../../api/messages.ts'
import { exactText } from '../json/json-text.ts'
import { JsonView } from '../json/json-view.tsx'
import { PlainText } from '../markdown/markdown.tsx'
import css from './chat.module.css'
import { documentsOf, type FoundDocument } from './documents.ts'
import { Messages, Text } from './messages.tsx'
import { payloadMessages, payloadTexts } from './payload-messages.ts'

const OPEN_DEPTH = 3

function Documents({ documents }: { documents: readonly FoundDocument[] }) {
  return documents.map(({ page_content, metadata, score }, place) => (
    <article key={place} className={css['message']}>
      <div className={css['role']}>
        Document {place + 1}
        {score !== undefined && score !== null && <Chip>score {String(score)}</Chip>}
      </div>
      <PlainText text={page_content} />
      {metadata !== undefined && <JsonView value={metadata} path="metadata" openDepth={0} />}
    </article>
  ))
}

interface PayloadProps {
  value: unknown
  /** The path of the value, such as `inputs`. */
  path: string
  isMarkdown: boolean
  /** The inputs of the run whose outputs the value is; messages that they have are folded. */
  inputs?: unknown
}

/** Fields that are texts as text, under their names, and the others as JSON. */
function TextsAndFields({ value, path, isMarkdown }: PayloadProps) {
  const { texts, rest } = useMemo(() => payloadTexts(value), [value])
  if (texts.length === 0 || mediaLink(value) !== undefined)
    return <JsonView value={value} path={path} openDepth={OPEN_DEPTH} />
  return (
    <>
      {texts.map(([name, text]) => (
        <article key={name} className={css['message']}>
          <div className={css['role']}>{name}</div>
          <Text text={text} isMarkdown={isMarkdown} />
        </article>
      ))}
      {rest !== undefined && <JsonView value={rest} path={path} openDepth={OPEN_DEPTH} />}
    </>
  )
}

/** The number of first messages that are the same in both. */
function commonLength(before: readonly Message[], messages: readonly Message[]): number {
  const differs = messages.findIndex((one, place) => exactText(one) !== exactText(before[place]))
  return differs < 0 ? messages.length : differs
}

/** Inputs or outputs of a run without messages of a model call: a conversation, documents, texts, or JSON. */
export function Payload({ value, path, isMarkdown, inputs }: PayloadProps) {
  const documents = documentsOf(value)
  const said = useMemo(() => payloadMessages(value), [value])
  const repeated = useMemo(
    () => (said && inputs ? commonLength(payloadMessages(inputs)?.messages ?? [], said.messages) : 0),
    [said, inputs],
  )
  if (documents.length > 0) return <Documents documents={documents} />
  if (said === undefined) return <TextsAndFields {...{ value, path, isMarkdown }} />
  return (
    <>
      <Messages messages={said.messages} isMarkdown={isMarkdown} repeated={repeated} repeatedIn="the input" />
      {said.rest !== undefined && <JsonView value={said.rest} path={path} openDepth={1} />}
    </>
  )
}
