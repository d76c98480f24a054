import { type KeyboardEvent, useId, useRef, useState } from 'react'
import type { CommentText } from '../../../data/comments/comment-changes.ts'
import { usePeople } from '../../../data/comments/people.ts'
import { mentionAt, mentionedIn, type Person } from '../../../data/comments/mentions.ts'
import { Button } from '../../../parts/controls.tsx'
import css from './comments.module.css'

const MOST_SHOWN = 6

/** The people whose names have the typed words, those that begin with them first. */
function peopleFor(typed: string | undefined, people: readonly Person[]): Person[] {
  if (typed === undefined) return []
  const wanted = typed.toLowerCase()
  const found = people.filter(({ name }) => name.toLowerCase().includes(wanted))
  const begins = ({ name }: Person): number => (name.toLowerCase().startsWith(wanted) ? 0 : 1)
  return found.toSorted((a, b) => begins(a) - begins(b)).slice(0, MOST_SHOWN)
}

/** A text field that offers the names of members after an `@`. */
function useMentioning(people: readonly Person[]) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [typed, setTyped] = useState<string>()
  const [marked, setMarked] = useState(0)
  const offered = peopleFor(typed, people)
  const look = (): void => {
    const area = field.current
    setTyped(area === null ? undefined : mentionAt(area.value, area.selectionStart)?.typed)
    setMarked(0)
  }
  const take = (person: Person): void => {
    const area = field.current
    const place = area === null ? undefined : mentionAt(area.value, area.selectionStart)
    if (area === null || place === undefined) return
    area.setRangeText(`@${person.name} `, place.from, area.selectionStart, 'end')
    area.focus()
    setTyped(undefined)
  }
  const pressed = (event: KeyboardEvent): boolean => {
    const person = offered[marked]
    if (person === undefined) return false
    if (event.key === 'ArrowDown') setMarked((marked + 1) % offered.length)
    else if (event.key === 'ArrowUp') setMarked((marked + offered.length - 1) % offered.length)
    else if (event.key === 'Enter' || event.key === 'Tab') take(person)
    else if (event.key === 'Escape') setTyped(undefined)
    else return false
    event.preventDefault()
    return true
  }
  return { field, offered, marked, look, take, pressed }
}

/** The names that are offered below the field. */
function People({
  list,
  offered,
  marked,
  take,
}: Pick<ReturnType<typeof useMentioning>, 'offered' | 'marked' | 'take'> & { list: string }) {
  return (
    <ul id={list} className={css['people']} role="listbox" aria-label="Members" hidden={offered.length === 0}>
      {offered.map((person, place) => (
        <li
          key={person.id}
          id={`${list}-${place}`}
          role="option"
          aria-selected={place === marked}
          onPointerDown={(event) => {
            event.preventDefault()
            take(person)
          }}
        >
          {person.name}
        </li>
      ))}
    </ul>
  )
}

/** The form for one comment. `⌘Enter` sends it, Escape closes it. */
export function CommentForm({
  text = '',
  label,
  isBusy,
  save,
  close,
}: {
  text?: string
  label: string
  isBusy: boolean
  save(comment: CommentText): void
  close(): void
}) {
  const list = useId()
  const people = usePeople(true).data ?? []
  const { field, offered, marked, look, take, pressed } = useMentioning(people)
  const send = (): void => {
    const written = field.current?.value.trim() ?? ''
    if (written !== '') save({ text: written, mentions: mentionedIn(written, people) })
  }
  const isOpen = offered.length > 0
  return (
    <form
      className={css['form']}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onKeyDown={(event) => {
        if (pressed(event)) return
        if (event.key === 'Escape') close()
        else if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) send()
        else return
        event.preventDefault()
      }}
    >
      <div className={css['writing']}>
        <textarea
          ref={field}
          aria-label="Comment"
          placeholder="Write a comment; @ mentions a member"
          rows={3}
          maxLength={10_000}
          defaultValue={text}
          autoFocus
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={isOpen ? list : undefined}
          aria-activedescendant={isOpen ? `${list}-${marked}` : undefined}
          onInput={look}
          onClick={look}
        />
        <People list={list} offered={offered} marked={marked} take={take} />
      </div>
      <div className={css['actions']}>
        <Button type="submit" look="primary" disabled={isBusy}>
          Save
        </Button>
        <Button look="plain" onClick={close}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
