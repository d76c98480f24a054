import { isDeepStrictEqual } from 'node:util'
import type { FeedbackConfigFields } from '../../ingest/feedback/config-store.ts'
import { feedbackConfigId } from '../../identity/managed-records.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Section, SetupStep, WantedFeedback } from '../setup.ts'
import { assertOnce, changeStep, eachWorkspace, type SetupRun } from '../setup-run.ts'

const SECTION = 'feedback'
const MAX_CONFIGS = 10_000

/** Creates and changes feedback configs, each known in its workspace by its key. */
export async function applyFeedback(
  run: SetupRun,
  { items, prune }: Section<WantedFeedback>,
): Promise<SetupStep[]> {
  const { feedback, identity } = run.stores
  const steps: SetupStep[] = []
  const named = new Set<string>()
  for (const { key, workspaces, ...config } of items) {
    const feedback_config = config as JsonObject
    for (const workspace_id of await eachWorkspace(run, workspaces)) {
      const place = feedbackConfigId(workspace_id, key)
      assertOnce(SECTION, key, named, place)
      named.add(place)
      const [before] = await feedback.list(workspace_id, { keys: [key], limit: 1, offset: 0 })
      if (before === undefined) {
        const fields: FeedbackConfigFields = {
          feedback_config,
          is_lower_score_better: null,
          is_enforced: null,
        }
        await feedback.create(workspace_id, key, fields)
        steps.push({ section: SECTION, name: key, action: 'create', fields: [] })
        continue
      }
      const isSame = isDeepStrictEqual({ ...before.feedback_config }, { ...feedback_config })
      if (!isSame) await feedback.update(workspace_id, key, () => ({ feedback_config }))
      steps.push(changeStep(SECTION, key, isSame ? [] : Object.keys(feedback_config)))
    }
  }
  await run.stores.managed.replace(run.organization_id, 'feedback_config', [...named])
  if (!prune) return steps
  for (const { id: workspace_id } of await identity.workspaces(run.organization_id))
    for (const { feedback_key } of await feedback.list(workspace_id, {
      keys: [],
      limit: MAX_CONFIGS,
      offset: 0,
    })) {
      if (named.has(feedbackConfigId(workspace_id, feedback_key))) continue
      await feedback.delete(workspace_id, feedback_key)
      steps.push({ section: SECTION, name: feedback_key, action: 'delete', fields: [] })
    }
  return steps
}
