import { useDeferredValue, useRef } from 'react'
import type { Reply } from '../../api/call.ts'
import { useProjects } from '../../data/projects.ts'
import { Field } from '../../parts/controls.tsx'
import { countText, durationText, shareText, shortCount } from '../../parts/format/numbers.ts'
import { useKeys } from '../../parts/keys.ts'
import { Money } from '../../parts/money.tsx'
import { Snippets } from '../../parts/snippets.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../router/link.tsx'
import { setParam, useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import css from './projects.module.css'

type ListedProject = Reply<'GET /api/v1/sessions'>[number]

const SEARCH = textParam('q')

const COLUMNS: readonly (readonly [string, string])[] = [
  ['Traces', 'Traces that it has'],
  ['Last run', 'When the newest run started'],
  ['Errors', 'Share of the ended traces whose root failed'],
  ['p50', 'Median of the time that a trace took'],
  ['p99', '99th percentile of the same'],
  ['First token', 'Median of the time to the first token of streamed model calls'],
  ['Tokens', 'Prompt and completion tokens of all runs, without double counts'],
  ['Cost', 'Dollars, as far as the prices are known'],
]

const micros = (seconds: number | null): number | undefined =>
  seconds === null ? undefined : Math.round(seconds * 1e6)

function Row({ project }: { project: ListedProject }) {
  const rate = project.error_rate
  return (
    <tr>
      <td className={css['name']}>
        <Link to={`/projects/${project.id}`}>{project.name}</Link>
      </td>
      <td className={css['number']} title={`${countText(project.run_count)} runs`}>
        {countText(project.trace_count)}
      </td>
      <td className={css['number']}>
        <Time time={project.last_run_start_time} />
      </td>
      <td className={`${css['number']} ${rate !== null && rate > 0 ? css['bad'] : ''}`}>{shareText(rate)}</td>
      <td className={css['number']}>{durationText(micros(project.latency_p50))}</td>
      <td className={css['number']}>{durationText(micros(project.latency_p99))}</td>
      <td className={css['number']}>{durationText(micros(project.first_token_p50))}</td>
      <td className={css['number']} title={countText(project.total_tokens)}>
        {shortCount(project.total_tokens)}
      </td>
      <td className={css['number']}>
        <Money value={project.total_cost} estimated={project.estimated_cost} />
      </td>
    </tr>
  )
}

function ProjectTable({ projects }: { projects: readonly ListedProject[] }) {
  return (
    <div className={css['scroll']} tabIndex={0} role="region" aria-label="Projects">
      <table className={css['table']}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            {COLUMNS.map(([name, title]) => (
              <th key={name} scope="col" className={css['number']} title={title}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {projects.map((project) => (
            <Row key={project.id} project={project} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** All projects with their figures. */
export function Projects() {
  const search = useParam(SEARCH)
  const projects = useProjects(useDeferredValue(search))
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() })
  return (
    <div className={css['page']}>
      <div className={css['head']}>
        <h1>Projects</h1>
        <Field
          ref={field}
          type="search"
          aria-label="Name contains"
          placeholder="Name contains"
          defaultValue={search}
          onChange={({ target }) => setParam(SEARCH, target.value)}
        />
      </div>
      <Loaded from={projects}>
        {(found) => {
          if (found.length > 0) return <ProjectTable projects={found} />
          if (search !== '') return <Empty title={`No project has “${search}” in its name`} />
          return (
            <Empty title="No trace has arrived yet">
              <p>Send one: the project appears here with its first run.</p>
              <Snippets />
            </Empty>
          )
        }}
      </Loaded>
    </div>
  )
}
