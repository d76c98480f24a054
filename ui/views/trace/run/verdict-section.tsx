import type { ReadRun } from '../../../data/runs.ts'
import { issuesOf, llmOf } from '../../../data/llm-facts.ts'
import { Checks, Issues, type ListOf } from '../../../parts/verdicts/verdicts.tsx'
import { Section } from './section.tsx'

/**
 * The four checks of a model call, each with what fixes it, and all issues of the run. Readers of a share have no lists
 * of others.
 */
export function VerdictSection({ run, isShared }: { run: ReadRun; isShared: boolean }) {
  const checks = Object.entries(llmOf(run)?.checks ?? {})
  const issues = issuesOf(run)
  if (checks.length === 0 && issues.length === 0) return null
  const failed = checks.filter(([, { ok }]) => !ok).length
  const listOf: ListOf | undefined = isShared
    ? undefined
    : (clause) => `/projects/${run.session_id}?view=runs&q=${encodeURIComponent(clause)}`
  const note =
    checks.length === 0 ? `${issues.length} remarks` : failed === 0 ? 'all hold' : `${failed} of 4 fail`
  return (
    <Section
      title="Checks"
      note={note}
      isOpen={failed > 0 || issues.some(({ severity }) => severity !== 'info')}
    >
      <Checks checks={Object.fromEntries(checks)} listOf={listOf} />
      <Issues issues={issues} listOf={listOf} />
    </Section>
  )
}
