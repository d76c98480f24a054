import { llmOf } from '../../data/llm-facts.ts'
import { figuresOfRun } from '../../data/playground/figures.ts'
import type { ReadRun } from '../../data/runs.ts'
import { Messages } from '../../parts/chat/messages.tsx'
import { usePreference } from '../../parts/preferences.ts'
import { Link } from '../../router/link.tsx'
import { FiguresTable } from './figures.tsx'
import css from './playground.module.css'

/** The run from which the draft comes: its answer and figures, with which the other columns are compared. */
export function SourceColumn({ run }: { run: ReadRun }) {
  const isMarkdown = usePreference('text') === 'markdown'
  const { messages, model, provider } = llmOf(run) ?? {}
  const output = messages?.output ?? []
  return (
    <section className={css['column']} aria-label="Source run">
      <div className={css['columnHead']}>
        <h2>Source run</h2>
        <span className={css['push']} />
        <Link to={`/traces/${run.trace_id}?run=${run.id}`}>Open the trace</Link>
      </div>
      <p className={css['note']}>
        {model ?? 'model not known'}
        {typeof provider === 'string' && ` · ${provider}`}
      </p>
      <div className={css['result']}>
        {typeof run.error === 'string' && <p className={css['bad']}>{run.error}</p>}
        <div className={css['answer']} data-scrolls="true">
          {output.length === 0 ? (
            <p className={css['note']}>It has no answer.</p>
          ) : (
            <Messages messages={output} isMarkdown={isMarkdown} />
          )}
        </div>
        <FiguresTable name="the source run" figures={figuresOfRun(run)} />
      </div>
    </section>
  )
}
