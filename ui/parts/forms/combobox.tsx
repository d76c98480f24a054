import { type InputHTMLAttributes, type KeyboardEvent, type ReactNode, useId, useState } from 'react'

export interface ComboOption {
  id: string
  text: ReactNode
  hint?: ReactNode
  choose(): void
}

interface Classes {
  input?: string | undefined
  options?: string | undefined
  option?: string | undefined
  hint?: string | undefined
}

/**
 * An editable combobox with a list, after the pattern of the ARIA Authoring Practices Guide: the focus stays in the
 * field, arrows move through the list, Enter chooses. `submit` is called for Enter when no option is marked.
 */
export function Combobox({
  label,
  value,
  options: offered,
  classes,
  change,
  submit,
  firstIsMarked = false,
  ...rest
}: Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> & {
  label: string
  value: string
  options: readonly ComboOption[]
  classes: Classes
  change(value: string): void
  submit?(): void
  firstIsMarked?: boolean
}) {
  const id = useId()
  const first = firstIsMarked ? 0 : -1
  const [place, setPlace] = useState(first)
  // An empty field offers nothing after a choice, so that what was chosen can be seen.
  const [isDone, setDone] = useState(false)
  const options = isDone && value === '' ? [] : offered
  const choose = (act: (() => void) | undefined): void => {
    act?.()
    setDone(true)
    setPlace(first)
  }
  const marked = options[Math.min(place, options.length - 1)]
  const pressed = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      setDone(false)
      setPlace(Math.max(first, Math.min(place + step, offered.length - 1)))
    } else if (event.key === 'Enter') choose(marked?.choose ?? submit)
    else return
    event.preventDefault()
  }
  return (
    <>
      <input
        autoComplete="off"
        spellCheck={false}
        {...rest}
        className={classes.input}
        role="combobox"
        aria-label={label}
        aria-expanded={options.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={marked === undefined ? undefined : `${id}-${marked.id}`}
        value={value}
        onChange={(event) => {
          change(event.target.value)
          setPlace(first)
        }}
        onKeyDown={pressed}
        onFocus={() => setDone(false)}
        onClick={() => setDone(false)}
      />
      <Options {...{ id, label, options, marked, classes, choose }} />
    </>
  )
}

const intoView = (line: HTMLElement | null): void => line?.scrollIntoView({ block: 'nearest' })

function Options({
  id,
  label,
  options,
  marked,
  classes,
  choose,
}: {
  id: string
  label: string
  options: readonly ComboOption[]
  marked: ComboOption | undefined
  classes: Classes
  choose(act: () => void): void
}) {
  return (
    <ul id={id} role="listbox" aria-label={label} className={classes.options} hidden={options.length === 0}>
      {options.map((option) => (
        <li
          key={option.id}
          id={`${id}-${option.id}`}
          role="option"
          aria-selected={option === marked}
          ref={option === marked ? intoView : undefined}
          className={classes.option}
          onPointerDown={(event) => {
            event.preventDefault()
            choose(option.choose)
          }}
        >
          <span>{option.text}</span>
          <span className={classes.hint}>{option.hint}</span>
        </li>
      ))}
    </ul>
  )
}
