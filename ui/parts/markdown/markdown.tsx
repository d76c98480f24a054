import { memo, useDeferredValue, useMemo } from 'react'
import { laterCode, useLaterCode } from '../../router/later-code.ts'
import css from './markdown.module.css'
import { markdownPieces, plainPieces } from './pieces.ts'

/** Longer texts are shown unformatted, because formatting them would block the page. */
const MAX_MARKDOWN = 200_000
/** Longer texts are parsed in pieces. */
const LONG_MARKDOWN = 16_000
/**
 * Longer pieces, such as a very long paragraph, are shown unformatted, because the browser needs long to lay out such
 * an element.
 */
const MAX_PIECE = 64_000

/** A text with its line breaks. */
export function PlainText({ text }: { text: string }) {
  return <p className={css['plain']}>{text}</p>
}

const PlainPiece = memo(function PlainPiece({ text }: { text: string }) {
  return <p className={`${css['plain']} ${css['piece']}`}>{text}</p>
})

/**
 * A long or growing text in pieces. When it grows, only the last piece is laid out again, and only if it is visible.
 */
export function LongPlainText({ text }: { text: string }) {
  const pieces = plainPieces(text)
  if (pieces.length === 1) return <PlainText text={text} />
  return (
    <div>
      {pieces.map((piece, place) => (
        <PlainPiece key={place} text={piece} />
      ))}
    </div>
  )
}

/** The parser, which is loaded beside the first texts. */
const PARSER = laterCode(() => import('./parsed-markdown.tsx').then((file) => file.ParsedMarkdown))

/** Loads the parser of Markdown, so that it is there before a text is drawn. */
export function useMarkdownSoon(): void {
  useLaterCode(PARSER)
}

/** A piece of Markdown; it is plain while the parser is loaded. */
function Parsed({ text, className }: { text: string; className?: string | undefined }) {
  useLaterCode(PARSER)
  if (PARSER.value === undefined) return <PlainText text={text} />
  return <PARSER.value text={text} className={className} />
}

/** A text whose parsing would block the page: it is plain at first, and parsed piece by piece in between other work. */
function LongMarkdown({ text }: { text: string }) {
  const isParsed = useDeferredValue(true, false)
  const pieces = useMemo(() => markdownPieces(text), [text])
  if (!isParsed) return <LongPlainText text={text} />
  return (
    <div className={css['markdown']}>
      {pieces.map((piece, place) =>
        piece.length > MAX_PIECE ? (
          <LongPlainText key={place} text={piece} />
        ) : (
          <Parsed key={place} text={piece} className={css['piece']} />
        ),
      )}
    </div>
  )
}

/**
 * Markdown as elements: no HTML text is made, so none has to be sanitized. HTML in it is shown as text; pictures are
 * not loaded.
 */
export function Markdown({ text }: { text: string }) {
  if (text.length > MAX_MARKDOWN) return <LongPlainText text={text} />
  return text.length > LONG_MARKDOWN ? <LongMarkdown text={text} /> : <Parsed text={text} />
}
