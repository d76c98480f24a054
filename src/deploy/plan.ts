import { AppError } from '../base/errors.ts'

export type Plan = 'developer' | 'plus' | 'startup' | 'enterprise'

/** @throws AppError plan_required for a plan without deployments (P-12) */
export function assertPlan(plan: Plan): void {
  if (plan !== 'developer') return
  throw new AppError('plan_required', {
    message: 'Deployments need the Plus plan or above; this organization has Developer.',
  })
}
