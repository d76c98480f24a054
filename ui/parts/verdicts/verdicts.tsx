import type { ReactNode } from 'react'
import { CopyButton } from '../controls.tsx'
import { Icon } from '../icon.tsx'
import { Link } from '../../router/link.tsx'
import css from './verdicts.module.css'

interface ShownVerdict {
  ok: boolean
  reason?: string
}

interface ShownIssue {
  code: string
  severity: 'error' | 'warning' | 'info'
  path: string
  message: string
  fix?: string
}

interface Check {
  name: string
  holds: string
  /** Code for the Python client that makes a call pass the check. */
  mend: string
}

const CHECKS = {
  run_type: {
    name: 'Run type',
    holds: 'It is an llm run.',
    mend: '@traceable(run_type="llm")',
  },
  format: {
    name: 'Format',
    holds: 'Its messages are read without an error.',
    mend: 'return {"messages": [{"role": "assistant",\n  "content": [{"type": "text", "text": answer}]}]}',
  },
  model: {
    name: 'Model',
    holds: 'Provider and model are known.',
    mend: '@traceable(run_type="llm", metadata={\n  "ls_provider": "openai",\n  "ls_model_name": "gpt-4.1-mini"})',
  },
  usage: {
    name: 'Usage',
    holds: 'Its tokens were counted, not estimated.',
    mend: 'return {"messages": [...], "usage_metadata": {\n  "input_tokens": 8, "output_tokens": 1, "total_tokens": 9}}',
  },
} as const satisfies Readonly<Record<string, Check>>

export const CHECK_NAMES = {
  run_type: CHECKS.run_type.name,
  format: CHECKS.format.name,
  model: CHECKS.model.name,
  usage: CHECKS.usage.name,
} as const

/** Lines of code that make calls pass a check, with a button that copies them. */
export function CheckMend({ check, children }: { check: keyof typeof CHECKS; children?: ReactNode }) {
  const { mend } = CHECKS[check]
  return (
    <>
      <pre className={css['mend']} tabIndex={0}>
        {mend}
      </pre>
      <div>
        <CopyButton text={mend} label="Copy the lines" /> {children}
      </div>
    </>
  )
}

/** The path of the list of all runs that satisfy a clause. */
export type ListOf = (clause: string) => string

function AllLike({ clause, listOf }: { clause: string; listOf: ListOf | undefined }) {
  return listOf && <Link to={listOf(clause)}>All like this</Link>
}

function CheckRow({
  name,
  verdict,
  listOf,
}: {
  name: keyof typeof CHECKS
  verdict: ShownVerdict
  listOf: ListOf | undefined
}) {
  const { ok, reason } = verdict
  const check = CHECKS[name]
  return (
    <div className={css['verdict']}>
      <Icon
        name={ok ? 'success' : 'error'}
        color={ok ? 'var(--ok)' : 'var(--error)'}
        label={ok ? 'holds' : 'fails'}
      />
      <div>
        <span>
          <b>{check.name}</b> <span className={css['note']}>{ok ? check.holds : reason}</span>
        </span>
        {!ok && (
          <CheckMend check={name}>
            <AllLike clause={`eq(check_${name}, false)`} listOf={listOf} />
          </CheckMend>
        )}
      </div>
    </div>
  )
}

const LOOKS = {
  error: { icon: 'error', color: 'var(--error)' },
  warning: { icon: 'warning', color: 'var(--warn)' },
  info: { icon: 'other', color: 'var(--muted)' },
} as const

function IssueRow({
  issue,
  show,
  listOf,
}: {
  issue: ShownIssue
  show: ((path: string) => void) | undefined
  listOf: ListOf | undefined
}) {
  const { icon, color } = LOOKS[issue.severity] ?? LOOKS.info
  const place = <code>{issue.path === '' ? 'the run' : issue.path}</code>
  return (
    <div className={css['verdict']}>
      <Icon name={icon} color={color} label={issue.severity} />
      <div>
        <span>
          {issue.message} {issue.fix}
        </span>
        <span className={css['note']}>
          <code>{issue.code}</code> at{' '}
          {show === undefined ? (
            place
          ) : (
            <button type="button" className={css['place']} onClick={() => show(issue.path)}>
              {place}
            </button>
          )}{' '}
          <AllLike clause={`eq(issue, ${JSON.stringify(issue.code)})`} listOf={listOf} />
        </span>
      </div>
    </div>
  )
}

function isCheck(name: string): name is keyof typeof CHECKS {
  return name in CHECKS
}

/**
 * The four checks of a model call, each with the code that makes it pass. With `listOf`, each check has a list of all
 * runs that fail it.
 */
export function Checks({
  checks,
  listOf,
}: {
  /** Null for a verdict that does not apply. */
  checks: Readonly<Record<string, ShownVerdict | null>>
  listOf?: ListOf | undefined
}) {
  return Object.entries(checks).map(([name, verdict]) => {
    return isCheck(name) && verdict !== null && <CheckRow key={name} {...{ name, verdict, listOf }} />
  })
}

/**
 * Issues of a run. With `show` their paths are buttons; with `listOf` each issue has a list of all runs that have it.
 */
export function Issues({
  issues,
  show,
  listOf,
}: {
  issues: readonly ShownIssue[]
  show?: (path: string) => void
  listOf?: ListOf | undefined
}) {
  return issues.map((issue, place) => <IssueRow key={place} {...{ issue, show, listOf }} />)
}
