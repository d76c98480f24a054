import { calledTools, offeredTools, parametersOf } from '../../../data/messages/call-request.ts'
import { llmOf } from '../../../data/llm-facts.ts'
import type { ReadRun } from '../../../data/runs.ts'
import { Chip } from '../../../parts/controls.tsx'
import { kindOf } from '../../../parts/json/json-text.ts'
import { JsonView } from '../../../parts/json/json-view.tsx'
import css from './run.module.css'
import { RunSection } from './section.tsx'

/** The tools that the model could call; those that it called are marked. */
function Tools({ run }: { run: ReadRun }) {
  const tools = offeredTools(run)
  if (tools.length === 0) return null
  const called = calledTools(llmOf(run)?.messages?.output ?? [])
  const count = tools.filter(({ name }) => called.has(name)).length
  return (
    <RunSection title="Tools offered" note={`${tools.length}, ${count} called`} isOpen={false}>
      <ul className={css['tools']}>
        {tools.map(({ name, description, schema }) => (
          <li key={name}>
            <div className={css['tool']}>
              <code>{name}</code>
              {called.has(name) && <Chip>called {called.get(name)} ×</Chip>}
            </div>
            {description !== '' && <p className={css['note']}>{description}</p>}
            {schema !== undefined && <JsonView value={schema} openDepth={0} />}
          </li>
        ))}
      </ul>
    </RunSection>
  )
}

function Parameters({ run }: { run: ReadRun }) {
  const parameters = parametersOf(run)
  if (parameters.length === 0) return null
  return (
    <RunSection title="Parameters" note={parameters.length} isOpen={false}>
      <dl className={css['pairs']}>
        {parameters.map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>
              {['object', 'array'].includes(kindOf(value)) ? (
                <JsonView value={value} openDepth={1} />
              ) : (
                String(value)
              )}
            </dd>
          </div>
        ))}
      </dl>
    </RunSection>
  )
}

/**
 * The settings that were sent with the messages of a model call. Without messages, the whole request is shown
 * as its input.
 */
export function RequestSection({ run }: { run: ReadRun }) {
  const hasMessages = (llmOf(run)?.messages?.input?.length ?? 0) > 0
  return (
    <>
      <Tools run={run} />
      {hasMessages && <Parameters run={run} />}
    </>
  )
}
