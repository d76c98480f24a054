import { marked, type Token, type Tokens } from 'marked'
import { Fragment, memo, type ReactNode, useDeferredValue, useMemo } from 'react'
import { Chip } from '../controls.tsx'
import css from './markdown.module.css'
import { markdownPieces, plainPieces } from './pieces.ts'
import { safeUrl, unescaped } from './shown-text.ts'

/** Longer texts are shown unformatted, because formatting them would block the page. */
const MAX_MARKDOWN = 200_000
/** Longer texts are parsed in pieces. */
const LONG_MARKDOWN = 16_000
/**
 * Longer pieces, such as a very long paragraph, are shown unformatted, because the browser needs long to lay out such
 * an element.
 */
const MAX_PIECE = 64_000

/** A link to another site, with its host. Other kinds of addresses are shown as text. */
export function OuterLink({ href, children }: { href: string; children: ReactNode }) {
  const url = safeUrl(href)
  if (url === undefined) return <>{children}</>
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer">
      {children}
      {url.host !== '' && <span className={css['host']}> ({url.host})</span>}
    </a>
  )
}

/** A picture of another site is never loaded: the request would reveal to that site what is being read. */
export function RemoteMedia({ href, what }: { href: string; what: string }) {
  const url = safeUrl(href)
  return (
    <Chip title={href}>
      {what}{' '}
      {url === undefined ? <code>{href.slice(0, 80)}</code> : <OuterLink href={href}>not loaded</OuterLink>}
    </Chip>
  )
}

function Heading({ depth, children }: { depth: number; children: ReactNode }) {
  return (
    <div role="heading" aria-level={Math.min(depth + 3, 6)} className={css['heading']}>
      {children}
    </div>
  )
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    <li key={index}>
      {item.task && (item.checked === true ? '☑ ' : '☐ ')}
      <All tokens={item.tokens} />
    </li>
  ))
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ token }: { token: Tokens.Table }) {
  return (
    <table>
      <thead>
        <tr>
          {token.header.map((cell, index) => (
            <th key={index}>
              <All tokens={cell.tokens} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {token.rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, place) => (
              <td key={place}>
                <All tokens={cell.tokens} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function All({ tokens }: { tokens: readonly Token[] | undefined }) {
  return (tokens ?? []).map((token, index) => <Fragment key={index}>{drawn(token)}</Fragment>)
}

/** The elements of one token. Tokens of HTML, and those that are not known, are shown as they were written. */
function drawn(token: Token): ReactNode {
  const inner = <All tokens={'tokens' in token ? token.tokens : undefined} />
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'paragraph':
      return <p>{inner}</p>
    case 'heading':
      return <Heading depth={(token as Tokens.Heading).depth}>{inner}</Heading>
    case 'strong':
      return <strong>{inner}</strong>
    case 'em':
      return <em>{inner}</em>
    case 'del':
      return <del>{inner}</del>
    case 'blockquote':
      return <blockquote>{inner}</blockquote>
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'code':
      return <pre>{(token as Tokens.Code).text}</pre>
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>
    case 'list':
      return <List token={token as Tokens.List} />
    case 'table':
      return <Table token={token as Tokens.Table} />
    case 'link':
      return <OuterLink href={unescaped((token as Tokens.Link).href)}>{inner}</OuterLink>
    case 'image':
      return (
        <RemoteMedia
          href={unescaped((token as Tokens.Image).href)}
          what={`image ${(token as Tokens.Image).text}`}
        />
      )
    case 'text':
      return 'tokens' in token && token.tokens !== undefined ? inner : unescaped((token as Tokens.Text).text)
    case 'escape':
      return unescaped((token as Tokens.Escape).text)
    default:
      return <span className={css['plain']}>{token.raw}</span>
  }
}

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

const Parsed = memo(function Parsed({ text, className }: { text: string; className?: string | undefined }) {
  const tokens = useMemo(() => marked.lexer(text), [text])
  return (
    <div className={`${css['markdown']} ${className ?? ''}`}>
      <All tokens={tokens} />
    </div>
  )
})

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
