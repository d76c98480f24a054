import type { ReadRun } from '../../../data/runs.ts'
import { issuesOf, llmOf } from '../../../data/llm-facts.ts'
import { Checks, Issues, type ListOf } from '../../../parts/verdicts/verdicts.tsx'
import { RunSection } from './section.tsx'

/**
 * The four checks of a model call, each with the code that makes it pass, and all issues of the run. A shared run has
 * no links to lists of other runs.
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
    <RunSection
      title="Checks"
      note={note}
      isOpen={failed > 0 || issues.some(({ severity }) => severity !== 'info')}
    >
      <Checks checks={Object.fromEntries(checks)} listOf={listOf} />
      <Issues issues={issues} listOf={listOf} />
    </RunSection>
  )
}
