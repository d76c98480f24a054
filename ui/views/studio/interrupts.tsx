import { type ReactNode, useState } from 'react'
import type { Interrupt } from '../../data/studio/step.ts'
import { parseTyped } from '../../api/typed-json.ts'
import { Button, Select } from '../../parts/controls.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Failure } from '../../parts/states.tsx'
import {
  type Action,
  type Answer,
  answersOf,
  type Given,
  reviewOf,
  reviewWaysOf,
  type Way,
  waysOf,
} from './answers.ts'
import type { StudioSession } from './session.ts'
import css from './studio.module.css'
import type { ShownThread } from './thread.ts'

/** The questions are those of the newest checkpoint, also while the chat shows another branch. */
const NEWEST = { checkpoint: null }

/** The interrupts of the newest checkpoint, each with its node. */
function questionsOf({ head }: ShownThread): { node: string; interrupt: Interrupt }[] {
  return (head?.tasks ?? []).flatMap(({ name, interrupts }) =>
    interrupts.map((interrupt) => ({ node: name, interrupt })),
  )
}

interface AnswerFieldsProps {
  /** Name of the fields in the form. */
  name: string
  /** What is answered: the node, or one of its calls. */
  label: string
  ways: readonly (readonly [Way, string])[]
  action: Action | undefined
  /** The fields for the single calls, which are shown for the way `each`. */
  children?: ReactNode
}

/** The choice of a way to answer, and a text where the way needs one. */
function AnswerFields({ name, label, ways, action, children }: AnswerFieldsProps) {
  const [way, setWay] = useState<Way>(ways[0]?.[0] ?? 'text')
  const needsText = way !== 'accept' && way !== 'ignore' && way !== 'each'
  return (
    <>
      <input type="hidden" name={`way${name}`} value={way} />
      <Select<Way> label={`Way to answer ${label}`} value={way} options={ways} onChange={setWay} />
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

function Question({ node, interrupt, place }: { node: string; interrupt: Interrupt; place: number }) {
  const review = reviewOf(interrupt.value)
  const actions = review?.actions ?? []
  return (
    <fieldset className={css['question']}>
      <legend>
        {node} asks{interrupt.id !== undefined && <code className={css['note']}> {interrupt.id}</code>}
      </legend>
      <JsonView value={interrupt.value} openDepth={actions.length > 1 ? 1 : 3} />
      <AnswerFields name={String(place)} label={node} ways={waysOf(review)} action={actions[0]}>
        {actions.map((action, at) => (
          <fieldset key={at} className={css['question']}>
            <legend>
              {at + 1}. {action.name}
            </legend>
            <JsonView value={action.args} openDepth={2} />
            <AnswerFields
              name={`${place}.${at}`}
              label={`${at + 1}. ${action.name}`}
              ways={reviewWaysOf(action)}
              action={action}
            />
          </fieldset>
        ))}
      </AnswerFields>
    </fieldset>
  )
}

function answerOf(form: FormData, name: string): Answer {
  return { way: String(form.get(`way${name}`)) as Way, text: String(form.get(`answer${name}`) ?? '') }
}

function givenOf(form: FormData, interrupt: Interrupt, place: number): Given {
  const each = reviewOf(interrupt.value)?.actions.map((_, at) => answerOf(form, `${place}.${at}`))
  return { interrupt, ...answerOf(form, String(place)), ...(each && { each }) }
}

/**
 * The questions that the thread waits for: each is answered as text, as JSON, or by a review of its calls. While a run
 * is active they are hidden. The typed answers are kept, in case the run fails to start.
 */
export function Interrupts({ shown, session }: { shown: ShownThread; session: StudioSession }) {
  const questions = questionsOf(shown)
  const [fault, setFault] = useState<unknown>()
  const { isLoading } = session
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
          const resume = answersOf(given, (text) => parseTyped(text, 'The answer'))
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
        <Question key={interrupt.id ?? place} node={node} interrupt={interrupt} place={place} />
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
