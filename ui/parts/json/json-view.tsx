import { useMemo, useState } from 'react'
import { mediaLink } from '../../api/media.ts'
import { LinkedMedia } from '../chat/linked-media.tsx'
import { Icon } from '../icon.tsx'
import { childPath, firstEntries, type JsonKind, kindOf } from './json-text.ts'
import css from './json-view.module.css'

/** Items of a list or an object that are drawn at first, and that each further click draws. */
const PAGE = 100
/** Items of a list that are open at first: thousands of rows at once would block the page. */
const OPEN_ITEMS = 25
/** Characters of a text that are drawn at first. */
const MAX_TEXT = 5000
/** Characters that each click adds: drawing megabytes at once would block the page. */
const MORE_TEXT = 100_000

interface NodeProps {
  name: string | undefined
  value: unknown
  path: string
  depth: number
  openDepth: number
}

function countNote(kind: JsonKind, count: number): string {
  return kind === 'array' ? `[${count}]` : `{${count}}`
}

function LongText({ text }: { text: string }) {
  const [length, setLength] = useState(MAX_TEXT)
  return (
    <>
      <span className={css['text']}>{text.slice(0, length)}</span>
      {text.length > length && (
        <button type="button" className={css['fold']} onClick={() => setLength(length + MORE_TEXT)}>
          <span className={css['note']}> … {text.length - length} more characters</span>
        </button>
      )}
    </>
  )
}

function Leaf({ name, value, path }: Pick<NodeProps, 'name' | 'value' | 'path'>) {
  const kind = kindOf(value)
  return (
    <div className={css['leaf']} title={path}>
      {name !== undefined && <span className={css['key']}>{name}: </span>}
      {kind === 'string' ? (
        <LongText text={value as string} />
      ) : (
        <span className={css[kind === 'number' ? 'number' : 'word']}>{String(value)}</span>
      )}
    </div>
  )
}

function Node({ name, value, path, depth, openDepth }: NodeProps) {
  const [isOpen, setOpen] = useState(depth < openDepth)
  const [shown, setShown] = useState(PAGE)
  const kind = kindOf(value)
  const { count, entries } = useMemo(() => firstEntries(value, isOpen ? shown : 0), [value, isOpen, shown])
  const link = mediaLink(value)
  if (link !== undefined)
    return (
      <div className={css['leaf']} title={path}>
        {name !== undefined && <span className={css['key']}>{name}: </span>}
        <LinkedMedia link={link} type={link.mime} kind="file" />
      </div>
    )
  if (kind !== 'object' && kind !== 'array') return <Leaf name={name} value={value} path={path} />
  return (
    <div>
      <button
        type="button"
        className={css['fold']}
        aria-expanded={isOpen}
        title={path}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? 'fold' : 'open'} />
        {name !== undefined && <span className={css['key']}>{name}&nbsp;</span>}
        <span className={css['note']}>{countNote(kind, count)}</span>
      </button>
      {isOpen && entries.length > 0 && (
        <ul>
          {entries.map(([key, one], place) => (
            <li key={key}>
              <Node
                name={key}
                value={one}
                path={childPath(path, key, kind === 'array')}
                depth={depth + 1}
                openDepth={kind === 'array' && place >= OPEN_ITEMS ? 0 : openDepth}
              />
            </li>
          ))}
          {count > shown && (
            <li>
              <button type="button" className={css['fold']} onClick={() => setShown(shown + PAGE)}>
                <span className={css['note']}>… {count - shown} more</span>
              </button>
            </li>
          )}
        </ul>
      )}
    </div>
  )
}

/**
 * Any JSON value as a tree. Texts are shown as text, with their line breaks; numbers as they were sent. The path of
 * each value is shown on hover; it begins with `path`.
 */
export function JsonView({
  value,
  path = '',
  openDepth = 2,
}: {
  value: unknown
  path?: string
  openDepth?: number
}) {
  return (
    <div className={css['view']}>
      <Node name={undefined} value={value} path={path} depth={0} openDepth={openDepth} />
    </div>
  )
}
