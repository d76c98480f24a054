import type { ValidationReport } from '../../api/platform.gen.ts'
import { countText } from '../../parts/format/numbers.ts'
import { Icon } from '../../parts/icon.tsx'
import { Checks, Issues } from '../../parts/verdicts/verdicts.tsx'
import css from './validate.module.css'

type CheckedRun = ValidationReport['runs'][number]

/** Selects the value at a path of a run in the text. */
export type ShowPlace = (run_id: string, path: string) => void

const plural = (count: number, word: string): string => `${countText(count)} ${word}${count === 1 ? '' : 's'}`

function Sum({ report }: { report: ValidationReport }) {
  const { runs, llm_runs, invalid, rejected } = report.summary
  const faults = [
    ...(invalid > 0 ? [`${countText(invalid)} not valid`] : []),
    ...(rejected > 0 ? [`${countText(rejected)} refused`] : []),
  ]
  return (
    <h2 className={css['sum']}>
      <Icon
        name={report.valid ? 'success' : 'error'}
        color={report.valid ? 'var(--ok)' : 'var(--error)'}
        label={report.valid ? 'valid' : 'not valid'}
      />
      <span>
        {plural(runs, 'run')}, {plural(llm_runs, 'model call')}:{' '}
        {faults.length === 0 ? 'all valid' : faults.join(', ')}
      </span>
    </h2>
  )
}

function tokensText({ input_tokens, output_tokens, usage_source }: CheckedRun): string {
  const one = (count: number | null, source: string | null): string =>
    `${source === 'estimate' ? '~' : ''}${countText(count)}`
  return `${one(input_tokens, usage_source.input)} + ${one(output_tokens, usage_source.output)} tokens`
}

function RunReport({ run, show }: { run: CheckedRun; show: ShowPlace | undefined }) {
  const isCall = run.run_type === 'llm'
  return (
    <section className={css['run']} aria-label={run.name}>
      <div className={css['head']}>
        <h3>{run.name}</h3>
        <span className={css['note']}>{run.run_type}</span>
        {run.model !== null && (
          <span className={css['note']} title={`from ${run.model_source ?? 'its provider'}`}>
            {run.provider === null ? run.model : `${run.provider} / ${run.model}`}
          </span>
        )}
        {isCall && <span className={css['note']}>{tokensText(run)}</span>}
        {isCall && (run.input_format ?? run.output_format) !== null && (
          <span className={css['note']}>
            {[...new Set([run.input_format, run.output_format])].filter(Boolean).join(' → ')}
          </span>
        )}
      </div>
      {isCall && <Checks checks={{ ...run.checks }} />}
      <Issues issues={run.issues} {...(show !== undefined && { show: (path) => show(run.run_id, path) })} />
      {!isCall && run.issues.length === 0 && <p className={css['note']}>Nothing to remark.</p>}
    </section>
  )
}

function Refused({ rejected }: Pick<ValidationReport, 'rejected'>) {
  return (
    <section className={css['run']} aria-label="Refused">
      <h3>Would be refused</h3>
      <ul className={css['refused']}>
        {rejected.map(({ run_id, code, field, reason }, place) => (
          <li key={place}>
            {reason}{' '}
            <span className={css['note']}>
              <code>{code}</code>
              {field !== null && (
                <>
                  {' at '}
                  <code>{field}</code>
                </>
              )}
              {run_id !== null && (
                <>
                  {' of '}
                  <code>{run_id}</code>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Maximum number of runs that are drawn; runs with faults come first. */
const MOST = 100

/** The report on checked runs. With `show`, paths of issues are buttons. */
export function ValidationResults({
  report,
  show,
}: {
  report: ValidationReport
  show: ShowPlace | undefined
}) {
  const runs = report.runs.toSorted((a, b) => Number(a.valid) - Number(b.valid))
  return (
    <div className={css['report']}>
      <Sum report={report} />
      {report.rejected.length > 0 && <Refused rejected={report.rejected} />}
      {runs.slice(0, MOST).map((run, place) => (
        <RunReport key={place} run={run} show={show} />
      ))}
      {runs.length > MOST && (
        <p className={css['note']}>
          {countText(runs.length - MOST)} further runs are not shown. <code>weir validate</code> prints all.
        </p>
      )}
    </div>
  )
}
