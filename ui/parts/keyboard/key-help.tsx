import { Fragment } from 'react'
import { Key } from '../controls.tsx'
import { Dialog } from '../forms/dialog.tsx'
import css from '../forms/dialog.module.css'
import { usePreference, writePreference } from '../preferences.ts'

const KEYS: readonly (readonly [string, string])[] = [
  ['⌘K', 'find a page or an id'],
  ['/', 'filter'],
  ['j k', 'next and previous row, turn or checkpoint'],
  ['x', 'select a run; two are compared'],
  ['Space', 'list: the marked run in a panel beside it, which j and k follow'],
  ['Enter', 'open'],
  ['⌘Enter', 'playground: run all models; Studio: run'],
  ['Esc', 'close, step back'],
  ['[ ]', 'older and newer trace'],
  ['← →', 'trace: fold and unfold, or go to the parent or the first child'],
  ['e', 'trace: next error'],
  ['s', 'trace: slowest child'],
  ['c', 'trace: mark the critical path'],
  ['f', 'trace: this run and what is below it alone'],
  ['m', 'trace: tree or messages'],
  ['+ − 0', 'trace: zoom'],
  ['y Y', 'copy the address; Y: with the shown range as fixed times'],
  ['g t', 'project: its traces'],
  ['g r', 'project: all of its runs'],
  ['?', 'this list'],
]

/** The keys of the interface, and the switch for single letters. */
export function KeyHelp({
  pages,
  close,
}: {
  pages: readonly { name?: string; key?: string }[]
  close(): void
}) {
  const letters = usePreference('letters')
  const jumps = pages.flatMap(({ name, key }) =>
    name === undefined || key === undefined ? [] : [[`g ${key}`, name] as const],
  )
  return (
    <Dialog title="Keys" close={close}>
      <dl className={css['keys']}>
        {[...KEYS, ...jumps].map(([key, text]) => (
          <Fragment key={key}>
            <dt>
              <Key>{key}</Key>
            </dt>
            <dd>{text}</dd>
          </Fragment>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          checked={letters === 'on'}
          onChange={({ target }) => writePreference('letters', target.checked ? 'on' : 'off')}
        />{' '}
        Single letters are keys
      </label>
    </Dialog>
  )
}
