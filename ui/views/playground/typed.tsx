import { type ClipboardEvent, useRef, useState } from 'react'
import { Field } from '../../parts/controls.tsx'
import css from './playground.module.css'

interface TypedProps {
  /** The label of the field for screen readers. */
  label: string
  /** The text at first; React does not write the field afterwards, so that long texts are quick to type in. */
  text: string
  type(text: string): void
  placeholder?: string | undefined
}

/**
 * A text of this length gets a field of fixed height. For a field that grows, the browser lays out the whole text twice
 * for each key press.
 */
const LONG_CHARS = 8000

/** A field of several lines that grows with its text, up to a height. */
export function TypedText({
  label,
  text,
  type,
  isCode = false,
  paste,
  placeholder,
}: TypedProps & { isCode?: boolean; paste?: (files: readonly File[]) => void }) {
  const [first] = useState(text)
  const pasted = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files]
    if (files.length === 0 || paste === undefined) return
    event.preventDefault()
    paste(files)
  }
  return (
    <textarea
      aria-label={label}
      className={isCode ? css['code'] : css['text']}
      defaultValue={first}
      placeholder={placeholder}
      spellCheck={false}
      rows={1}
      data-long={first.length > LONG_CHARS}
      onInput={({ currentTarget }) => {
        const { value, dataset } = currentTarget
        const isLong = String(value.length > LONG_CHARS)
        if (dataset['long'] !== isLong) dataset['long'] = isLong
        type(value)
      }}
      onPaste={pasted}
    />
  )
}

/**
 * A field of one line. `left` is called when the focus leaves it with another text. A text that `refuse` refuses is
 * removed at once.
 */
export function TypedField({
  label,
  text,
  type,
  left,
  refuse,
  ...rest
}: TypedProps & { left?: () => void; list?: string; refuse?: (text: string) => boolean }) {
  const [first] = useState(text)
  const before = useRef(text)
  return (
    <Field
      aria-label={label}
      defaultValue={first}
      {...rest}
      onInput={({ currentTarget }) => {
        if (refuse?.(currentTarget.value) === true) currentTarget.value = ''
        type(currentTarget.value)
      }}
      onBlur={({ currentTarget: { value } }) => {
        if (value !== before.current) left?.()
        before.current = value
      }}
    />
  )
}
