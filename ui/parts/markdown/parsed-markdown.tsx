import { marked, type Token, type Tokens } from 'marked'
import { Fragment, memo, type ReactNode, useMemo } from 'react'
import css from './markdown.module.css'
import { OuterLink, RemoteMedia } from './outer-link.tsx'
import { unescaped } from './shown-text.ts'

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

/** A text of Markdown as elements. */
export const ParsedMarkdown = memo(function ParsedMarkdown({
  text,
  className,
}: {
  text: string
  className?: string | undefined
}) {
  const tokens = useMemo(() => marked.lexer(text), [text])
  return (
    <div className={`${css['markdown']} ${className ?? ''}`}>
      <All tokens={tokens} />
    </div>
  )
})
