import { useState } from 'react'
import type { Interrupt } from '../../data/studio/step.ts'
import { parseTyped } from '../../api/typed-json.ts'
import { Button, Select } from '../../parts/controls.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Failure } from '../../parts/states.tsx'
import { answersOf, reviewOf, type Way, WAYS } from './answers.ts'
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

function Question({ node, interrupt, place }: { node: string; interrupt: Interrupt; place: number }) {
  const review = reviewOf(interrupt.value)
  const [way, setWay] = useState<Way>(review === undefined ? 'text' : 'accept')
  const needsText = way !== 'accept' && way !== 'ignore'
  const start = way === 'edit' ? JSON.stringify(review?.args ?? {}, null, 2) : ''
  return (
    <fieldset className={css['question']}>
      <legend>
        {node} asks{interrupt.id !== undefined && <code className={css['note']}> {interrupt.id}</code>}
      </legend>
      <JsonView value={interrupt.value} openDepth={3} />
      <input type="hidden" name={`way${place}`} value={way} />
      <Select<Way>
        label={`Way to answer ${node}`}
        value={way}
        options={WAYS.filter(([one]) => review !== undefined || one === 'text' || one === 'json')}
        onChange={setWay}
      />
      {needsText && (
        <textarea
          key={way}
          name={`answer${place}`}
          aria-label={`Answer to ${node}`}
          rows={way === 'text' || way === 'respond' ? 2 : 5}
          spellCheck={false}
          defaultValue={start}
        />
      )}
    </fieldset>
  )
}

/** The questions that the thread waits for: each is answered as text, as JSON, or by accepting, editing, answering or ignoring. */
export function Interrupts({ shown, session }: { shown: ShownThread; session: StudioSession }) {
  const questions = questionsOf(shown)
  const [fault, setFault] = useState<unknown>()
  const { isLoading } = session
  const refusal = session.rights.run
  const { head } = shown
  if (isLoading || head === undefined) return null
  if (questions.length === 0) {
    if (head.next.length === 0 || head.tasks.some(({ error }) => error !== null)) return null
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
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        try {
          const given = questions.map(({ interrupt }, place) => ({
            interrupt,
            way: String(form.get(`way${place}`)) as Way,
            text: String(form.get(`answer${place}`) ?? ''),
          }))
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
