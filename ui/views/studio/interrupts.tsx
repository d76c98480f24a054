import { type ReactNode, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Interrupt } from '../../data/studio/step.ts'
import { parseTyped } from '../../api/typed-json.ts'
import { Button } from '../../parts/controls.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { Failure } from '../../parts/states.tsx'
import {
  type Action,
  type Answer,
  answersOf,
  type ArgumentField,
  argumentFields,
  editedArguments,
  type Given,
  reviewOf,
  reviewWaysOf,
  type Way,
  waysOf,
} from './answers.ts'
import type { StudioSession } from './session.ts'
import css from './studio.module.css'
import type { ShownThread } from './thread.ts'
import { useFollowed } from './run-events.ts'

/** The questions are those of the newest checkpoint, also while the chat shows another branch. */
const NEWEST = { checkpoint: null }

/** The interrupts of the newest checkpoint, each with its node. */
export function questionsOf({ head }: ShownThread): { node: string; interrupt: Interrupt }[] {
  return (head?.tasks ?? []).flatMap(({ name, interrupts }) =>
    interrupts.map((interrupt) => ({ node: name, interrupt })),
  )
}

/** The ways that need nothing typed. */
const AT_ONCE: readonly Way[] = ['accept', 'ignore']

interface AnswerFieldsProps {
  /** Name of the fields in the form. */
  name: string
  /** What is answered: the node, or one of its calls. */
  label: string
  ways: readonly (readonly [Way, string])[]
  action: Action | undefined
  /** Whether it is all that is asked, so that a way that needs no text is sent by its button. */
  isOnly: boolean
  /** The fields for the single calls, which are shown for the way `each`. */
  children?: ReactNode
}

/** The ways to answer as buttons, and the fields of the chosen one. */
function AnswerFields({ name, label, ways, action, isOnly, children }: AnswerFieldsProps) {
  const [way, setWay] = useState<Way>(ways[0]?.[0] ?? 'text')
  const choose = (next: Way, form: HTMLFormElement | null): void => {
    flushSync(() => setWay(next))
    if (isOnly && AT_ONCE.includes(next)) form?.requestSubmit()
  }
  const fields = way === 'edit' ? argumentFields(action?.args) : undefined
  const needsText = !AT_ONCE.includes(way) && way !== 'each' && fields === undefined
  return (
    <>
      {action !== undefined && <Proposed action={action} isEdited={way === 'edit'} />}
      <input type="hidden" name={`way${name}`} value={way} />
      <div className={css['ways']} role="toolbar" aria-label={`Way to answer ${label}`}>
        {ways.map(([word, text]) => (
          <Button
            key={word}
            aria-pressed={word === way}
            onClick={({ currentTarget }) => choose(word, currentTarget.form)}
          >
            {text}
          </Button>
        ))}
      </div>
      {fields?.map((field) => (
        <label key={field.name} className={css['argument']}>
          {field.name}
          <textarea
            name={`argument${name}.${field.name}`}
            aria-label={`${field.name} of ${label}`}
            rows={Math.min(8, field.text.split('\n').length)}
            spellCheck={field.isText}
            dir="auto"
            defaultValue={field.text}
          />
        </label>
      ))}
      {needsText && (
        <textarea
          key={way}
          name={`answer${name}`}
          aria-label={`Answer to ${label}`}
          rows={way === 'edit' || way === 'json' ? 5 : 2}
          spellCheck={false}
          defaultValue={way === 'edit' ? JSON.stringify(action?.args ?? {}, null, 2) : ''}
        />
      )}
      {way === 'each' && children}
    </>
  )
}

/** A call that is proposed: what it is, why, and its arguments, unless these are being edited. */
function Proposed({ action: { name, args, description }, isEdited }: { action: Action; isEdited: boolean }) {
  const fields = argumentFields(args)
  return (
    <>
      <h3>{name}</h3>
      {description !== undefined && <Markdown text={description} />}
      {!isEdited && fields === undefined && <JsonView value={args} openDepth={2} />}
      {!isEdited && fields !== undefined && <Fields fields={fields} />}
    </>
  )
}

function Fields({ fields }: { fields: readonly ArgumentField[] }) {
  return (
    <dl className={css['arguments']}>
      {fields.map(({ name, text }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="auto">{text}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What a graph asks with a value of its own: a text, texts with their names, or any JSON. */
function Asked({ value }: { value: unknown }) {
  if (typeof value === 'string') return <Markdown text={value} />
  const fields = argumentFields(value)
  if (fields === undefined || !fields.every(({ isText }) => isText))
    return <JsonView value={value} openDepth={3} />
  return <Fields fields={fields} />
}

interface QuestionProps {
  node: string
  interrupt: Interrupt
  place: number
  isOnly: boolean
}

/** A question as a card: what is asked, and the ways to answer it. */
function Question({ node, interrupt, place, isOnly }: QuestionProps) {
  const review = reviewOf(interrupt.value)
  const actions = review?.actions ?? []
  const [first, second] = actions
  const { value } = interrupt
  return (
    <fieldset className={css['question']}>
      <legend>
        {node} asks{interrupt.id !== undefined && <code className={css['note']}> {interrupt.id}</code>}
      </legend>
      {first === undefined && <Asked value={value} />}
      <AnswerFields
        name={String(place)}
        label={node}
        ways={waysOf(review)}
        action={second === undefined ? first : undefined}
        isOnly={isOnly}
      >
        {actions.map((action, at) => (
          <fieldset key={at} className={css['question']}>
            <legend>
              {at + 1}. {action.name}
            </legend>
            <AnswerFields
              name={`${place}.${at}`}
              label={`${at + 1}. ${action.name}`}
              ways={reviewWaysOf(action)}
              action={action}
              isOnly={false}
            />
          </fieldset>
        ))}
      </AnswerFields>
      {first !== undefined && (
        <details>
          <summary>The question as JSON</summary>
          <JsonView value={value} openDepth={2} />
        </details>
      )}
    </fieldset>
  )
}

const parseAnswer = (text: string): unknown => parseTyped(text, 'The answer')

/** @throws JsonFault for an argument that is not JSON */
function answerOf(form: FormData, name: string, action: Action | undefined): Answer {
  const way = String(form.get(`way${name}`)) as Way
  const fields = way === 'edit' ? argumentFields(action?.args) : undefined
  if (fields === undefined) return { way, text: String(form.get(`answer${name}`) ?? '') }
  const typed = fields.map((field) => ({ ...field, text: String(form.get(`argument${name}.${field.name}`)) }))
  return { way, text: editedArguments(typed, parseAnswer) }
}

function givenOf(form: FormData, interrupt: Interrupt, place: number): Given {
  const actions = reviewOf(interrupt.value)?.actions
  const whole = answerOf(form, String(place), actions?.[0])
  if (whole.way !== 'each') return { interrupt, ...whole }
  const each = actions?.map((action, at) => answerOf(form, `${place}.${at}`, action)) ?? []
  return { interrupt, ...whole, each }
}

/**
 * The questions that the thread waits for: each is answered as text, as JSON, or by a review of its calls. While a run
 * is active or replayed they are hidden. The typed answers are kept, in case the run fails to start.
 */
export function Interrupts({ shown, session }: { shown: ShownThread; session: StudioSession }) {
  const questions = questionsOf(shown)
  const [fault, setFault] = useState<unknown>()
  // Under a replay of another run, the question would look like a part of it.
  const isReplaying = useFollowed(session.replay.isOn)
  const isLoading = session.isLoading || isReplaying
  const refusal = session.rights.run
  const { head } = shown
  if (head === undefined) return null
  if (questions.length === 0) {
    if (isLoading || head.next.length === 0 || head.tasks.some(({ error }) => error !== null)) return null
    return (
      <section className={css['panel']} aria-label="Stopped">
        <p>
          The thread stopped before <b>{head.next.join(', ')}</b>.
        </p>
        <Button
          look="primary"
          disabled={refusal !== undefined}
          title={refusal}
          onClick={() => session.submit(null, NEWEST)}
        >
          Go on
        </Button>
      </section>
    )
  }
  return (
    <form
      className={css['panel']}
      aria-label="Questions"
      hidden={isLoading}
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        try {
          const given = questions.map(({ interrupt }, place) => givenOf(form, interrupt, place))
          const resume = answersOf(given, parseAnswer)
          setFault(undefined)
          session.submit(undefined, { ...NEWEST, command: { resume } })
        } catch (error) {
          setFault(error)
        }
      }}
    >
      <h2>
        {questions.length === 1
          ? 'The run waits for an answer'
          : `The run waits for ${questions.length} answers`}
      </h2>
      {questions.map(({ node, interrupt }, place) => (
        <Question
          key={interrupt.id ?? place}
          {...{ node, interrupt, place }}
          isOnly={questions.length === 1}
        />
      ))}
      {fault !== undefined && <Failure error={fault} />}
      <div>
        <Button type="submit" look="primary" disabled={refusal !== undefined} title={refusal}>
          Answer and go on
        </Button>
      </div>
    </form>
  )
}
